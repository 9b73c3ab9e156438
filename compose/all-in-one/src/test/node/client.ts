// A client of the HTTP door that is generated from the document it serves. Prints what it was told.
import createClient from "openapi-fetch";
import type { components, paths } from "./door.js";

declare const process: { argv: string[] };
const [url, token, key] = process.argv.slice(2);

const door = createClient<paths>({
  baseUrl: url,
  headers: { Authorization: `Bearer ${token}` },
});

type Told = components["schemas"]["Answer"] | components["schemas"]["Problem"] | undefined;

async function pay(body: unknown, idempotencyKey: string | undefined = `"${key}"`) {
  const { data, error, response } = await door.POST("/v1/actions/{action}", {
    params: {
      path: { action: "pay" },
      header: { "Idempotency-Key": idempotencyKey, Prefer: "wait=60" },
    },
    body,
  });
  const told: Told = data ?? error;
  return {
    status: response.status,
    replayed: response.headers.get("Idempotent-Replayed"),
    state: told?.state,
    code: told?.code,
    result: told?.result,
    differing: told?.differing,
  };
}

const executed = await pay({ amount: 1, to: "x" });
const replayed = await pay({ to: "x", amount: 1.0 });
const refused = await pay({ amount: 2, to: "x" });
const malformed = await pay({}, "a, b");
const operation = await door.GET("/v1/operations/{id}", { params: { path: { id: key } } });

// The list follows the journal, a moment behind the replies.
async function listed(): Promise<boolean> {
  const page = await door.GET("/v1/operations", { params: { query: { state: "SUCCEEDED" } } });
  return page.data?.operations.some((line) => line.operation_id === key) || listed();
}
const terms = await door.GET("/v1/actions/{action}", { params: { path: { action: "pay" } } });

console.log(
  JSON.stringify({
    executed,
    replayed,
    refused,
    malformed,
    state: operation.data?.state,
    verdicts: operation.data?.replies.map((line) => line["verdict"]),
    listed: await listed(),
    retention: terms.data?.retention_seconds,
  }),
);

// Two ways for a tool to act: straight at the remote, and once, through Ichido. Copy `once` into your agent.

const { ICHIDO_URL, ICHIDO_TOKEN, REMOTE_URL } = process.env;

/** Every call is a new effect: the remote cannot tell a retry from a second order. */
export async function direct(action, _key, args) {
  const answer = await fetch(`${REMOTE_URL}/${action}`, { method: "POST", body: JSON.stringify(args) });
  return answer.json();
}

/**
 * The same key is the same effect, however often and from wherever it is asked for. When the connection breaks this
 * throws, and nothing is lost: whoever runs the tool again comes with the same key.
 */
export async function once(action, key, args) {
  for (;;) {
    const answer = await fetch(`${ICHIDO_URL}/v1/actions/${action}`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${ICHIDO_TOKEN}`,
        "Content-Type": "application/json",
        "Idempotency-Key": `"${key}"`,
        Prefer: "wait=60",
      },
      body: JSON.stringify(args),
    });
    const told = await answer.json();
    if (answer.status === 200) return told.result;
    // It asks for the same request again, or it still runs: the same key attaches to it.
    const pause = answer.headers.get("Retry-After");
    if (pause === null && told.state !== "IN_PROGRESS") {
      return { not_done: told.code ?? told.state, detail: told.detail, note: "Do not call again." };
    }
    await new Promise((later) => setTimeout(later, 1000 * Number(pause)));
  }
}

/** One key of parts that stay the same over every retry: never of a clock, a random number or the attempt. */
export function keyOf(...parts) {
  return parts.map((part) => part.replace(/[^A-Za-z0-9_.-]/gu, (c) => `~${c.codePointAt(0).toString(16)}~`)).join(":");
}

/** Runs an example twice; `order` names what the remote's book counts. */
export async function compare(runtime, cases) {
  for (const [name, run] of Object.entries(cases)) {
    await run(direct, `${runtime}/${name}/without`);
    await run(once, `${runtime}/${name}/with`);
  }
}

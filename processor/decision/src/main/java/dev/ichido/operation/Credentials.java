package dev.ichido.operation;

import java.util.List;
import java.util.regex.Pattern;

/** Shapes of credentials whose prefix their issuers made to be recognised. */
final class Credentials {
  /** Longer ids are refused in any case, and every shape shows within its first characters. */
  private static final int LOOKED_AT = 4096;

  private static final Pattern SHAPES =
      Pattern.compile(
          // Where a letter or digit stands before it, a prefix is the inside of a word.
          "(?<![A-Za-z0-9])(?:"
              + String.join(
                  "|",
                  List.of(
                      // Stripe
                      "[srp]k_(?:live|test)_",
                      "whsec_",
                      // GitHub, GitLab
                      "gh[pousr]_[A-Za-z0-9]{4}",
                      "github_pat_",
                      "gl(?:pat|ptt|rt|dt|cbt|soat|ft|imt|agent|oas|ffct)-[A-Za-z0-9_]{4}",
                      // Slack
                      "xox[a-z]-",
                      "xapp-\\d-",
                      // AWS access key ids
                      "AKIA[A-Za-z0-9]{16}",
                      "ASIA[A-Z0-9]{16}(?![A-Za-z0-9])",
                      // Google API keys, access tokens, client secrets
                      "AIza[A-Za-z0-9_-]{16}",
                      "ya29\\.",
                      "GOCSPX-",
                      // JSON Web Tokens: a base64url object before a dot, or a usual first member
                      "eyJ[A-Za-z0-9_-]{4,255}\\.",
                      "eyJ(?:hbGciOi|0eXAiOi|raWQiOi)",
                      // npm, PyPI, Hugging Face, Docker
                      "npm_[A-Za-z0-9]{20}",
                      "pypi-[A-Za-z0-9_-]{16}",
                      "hf_[A-Za-z0-9]{16}",
                      "dckr_(?:pat|oat)_",
                      // OpenAI and Anthropic
                      "sk-[A-Za-z0-9_-]{13}",
                      // SendGrid, Shopify, DigitalOcean, Square
                      "SG\\.[A-Za-z0-9_-]{16,64}\\.",
                      "shp(?:at|ca|pa|ss)_[A-Za-z0-9]{4}",
                      "do[opr]_v1_",
                      "sq0(?:atp|csp|idp)-",
                      // PEM
                      "-----BEGIN "))
              + ")");

  private Credentials() {}

  static boolean areIn(String id) {
    return SHAPES.matcher(id.substring(0, Math.min(id.length(), LOOKED_AT))).find();
  }
}

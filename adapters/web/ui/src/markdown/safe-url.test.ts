// @vitest-environment node
import { describe, expect, it } from "vitest";
import { safeUrl } from "./safe-url";

describe("C36 addresses", () => {
  it.each([
    "https://example.com", "http://example.com/a?b=c#d", "HTTPS://EXAMPLE.COM/", "mailto:ann@example.com", "https://example.com/ä/%20x", "http://localhost:7377/x",
    "https://user.example.com/@name",
  ])("follows %s, unchanged", (url) => expect(safeUrl(url)).toBe(url));
  it.each([
    "javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\tscript:alert(1)", "java\nscript:alert(1)", "\u0001javascript:alert(1)", " javascript:alert(1)",
    "java\u200Bscript:alert(1)", "javascript&#58;alert(1)", "javascript%3Aalert(1)", "data:text/html,<script>1</script>", "vbscript:msgbox", "file:///etc/passwd",
    "blob:https://example.com/1", "about:blank", "about:srcdoc", "//example.com", "\\\\example.com", "/path", "path", "#fragment", "?query", "", "https:", "https://",
    "http:example.com", "https:/example.com", "https:\\\\example.com", "ht\ttps://example.com", "https://exa mple.com", "https://example.com/\u202Egpj.exe", "ftp://example.com",
    "https://good.example@evil.example/", "https://good.example:pw@evil.example/", "mailto:", "ws://example.com", "view-source:https://example.com", "https://[::1",
  ])("does not follow %j", (url) => expect(safeUrl(url)).toBeUndefined());
});

/** Shorter ones may be words. */
const shortestKey = 6;

/**
 * Text without the key, in the forms in which it is sent. The client's own errors are clean; this is for what comes from
 * elsewhere: an argument that was the key by mistake, a message of the system.
 */
export function redactKey(text: string, key: string | undefined): string {
  const plain = key?.trim().replace(/^["'](.*)["']$/s, "$1") ?? "";
  if (plain.length < shortestKey) return text;
  const base64 = (value: string) => Buffer.from(value).toString("base64").replace(/=+$/, "");
  const forms = [plain, base64(plain), base64(`${plain}:`), encodeURIComponent(plain)];
  return forms.reduce((rest, form) => rest.replaceAll(form, "[redacted]"), text);
}

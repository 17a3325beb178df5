import type { Fault } from "./fault.ts";

const codes: Record<number, string> = { 429: "rate_limit_exceeded", 503: "service_unavailable" };

/** The bytes of an answer that the proxy gives by itself. */
export function ownAnswer(fault: Fault): Buffer {
  if (fault.deed === "gone") return answer(410, "json", envelope("stream_expired"));
  if (fault.deed === "refuse") return answer(400, "json", envelope("invalid_last_event_id"));
  const { status, body, retryAfter } = fault;
  if (isDoneAlone(fault)) return answer(200, "events", "event: done\ndata: {}\n\n");
  if (status === 200) return answer(200, "html", "<!doctype html><title>Sign in</title>");
  const text = {
    json: envelope(codes[status] ?? "internal_error"),
    html: "<html><h1>Bad gateway</h1></html>",
    empty: "",
  }[body];
  return answer(status, body, text, retryAfter);
}

/** A stream that ends without an outcome, and says so in form. */
export const isDoneAlone = ({ deed, status, body }: Fault): boolean =>
  deed === "answer" && status === 200 && body === "json";

const envelope = (code: string): string => JSON.stringify({ error: { code, message: "of the proxy" } });

function answer(status: number, type: Fault["body"] | "events", body: string, retryAfter?: string): Buffer {
  const lines = [
    `HTTP/1.1 ${status} Chaos`,
    `content-length: ${Buffer.byteLength(body)}`,
    ...(type === "json" ? ["content-type: application/json"] : []),
    ...(type === "html" ? ["content-type: text/html; charset=utf-8"] : []),
    ...(type === "events" ? ["content-type: text/event-stream"] : []),
    ...(retryAfter === undefined ? [] : [`retry-after: ${retryAfter}`]),
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

import { type Span, SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import type { Middleware } from "cursor-cloud-agents";

/**
 * A span for each request, retries among them, named as OpenTelemetry's conventions for HTTP clients ask.
 *
 * What goes into a span is chosen, not copied: method, route and status, never a header, a query, a body, or the ids in
 * a path. The key isn't there to leak: a middleware doesn't see it.
 */
export function tracing(tracer: Tracer): Middleware {
  const spans = new Map<string, Span>();
  const take = (id: string): Span | undefined => {
    const span = spans.get(id);
    spans.delete(id);
    return span;
  };
  return {
    onRequest({ request, schemaPath, id }) {
      const { hostname, port } = new URL(request.url);
      const span = tracer.startSpan(`${request.method} ${schemaPath}`, {
        kind: SpanKind.CLIENT,
        attributes: {
          "http.request.method": request.method,
          "url.template": schemaPath,
          "server.address": hostname,
          ...(port === "" ? {} : { "server.port": Number(port) }),
        },
      });
      spans.set(id, span);
    },
    onResponse({ response, id }) {
      const span = take(id);
      span?.setAttribute("http.response.status_code", response.status);
      const requestId = response.headers.get("x-request-id");
      if (requestId !== null) span?.setAttribute("cursor.request_id", requestId);
      if (response.status >= 400) {
        span?.setAttribute("error.type", String(response.status));
        span?.setStatus({ code: SpanStatusCode.ERROR });
      }
      // Of a run's stream this is its beginning: how long a run takes is in its result.
      span?.end();
    },
    onError({ error, id }) {
      const span = take(id);
      // The name alone: a message may quote what was sent.
      span?.setAttribute("error.type", error instanceof Error ? error.name : "unknown");
      span?.setStatus({ code: SpanStatusCode.ERROR });
      span?.end();
    },
  };
}

import { headerOf, type IncomingRequest } from "./exchange.ts";
import { flatRefusal } from "./refusal.ts";

/**
 * The parsed JSON body, read as the service's framework does; `undefined` if there is neither body nor content type.
 *
 * @throws Refusal in the framework's flat form: 400 for empty or broken JSON, 415 for other types.
 */
export function parseBody(request: IncomingRequest): unknown {
  if (request.method === "GET") return undefined;
  const contentType = headerOf(request.headers, "content-type");
  if (contentType === undefined && request.body.length === 0) return undefined;
  const essence = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  if (essence !== "application/json")
    throw flatRefusal(415, `Unsupported Media Type: ${essence ?? "undefined"}`);
  if (request.body.length === 0) {
    throw flatRefusal(400, "Body cannot be empty when content-type is set to 'application/json'");
  }
  try {
    return JSON.parse(new TextDecoder().decode(request.body));
  } catch {
    throw flatRefusal(400, "Body is not valid JSON but content-type is set to 'application/json'");
  }
}

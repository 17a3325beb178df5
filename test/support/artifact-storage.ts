import { type Answer, bodyOf, type Ending, fake, type RecordedRequest, reply } from "./fake-api.ts";
import { agentId } from "./sample-run.ts";

export const path = "artifacts/a.txt";
export const file = "0123456789";
export const etag = '"v1"';
const storage = "storage.example";
const isStorage = ({ url }: RecordedRequest) => url.host === storage;
export const expired = reply(
  403,
  "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>",
);

/** The whole file, or the part from `from`, of which the storage sends only `pieces` before it ends so. */
export function part(from = 0, pieces = [file.slice(from)], then: Ending = "end", more = {}): Answer {
  return () =>
    new Response(bodyOf(pieces, then), {
      status: from === 0 ? 200 : 206,
      headers: {
        "content-length": String(file.length - from),
        "content-type": "text/plain",
        etag,
        ...(from === 0 ? {} : { "content-range": `bytes ${from}-9/10` }),
        ...more,
      },
    });
}

/** A client whose API signs URLs (`?signature=1`, 2, …) and whose storage answers from a list. */
export function artifacts(...answers: Answer[]) {
  let signed = 0;
  const rest = [...answers];
  const all = fake((request) => {
    if (isStorage(request)) return rest.shift() ?? reply(500, "no more answers");
    return reply(200, { url: `https://${storage}/b/k?signature=${++signed}`, expiresAt: "" });
  });
  return {
    ...all,
    download: () => all.cursor.artifacts.download(agentId, path),
    text: () => all.run(all.cursor.artifacts.download(agentId, path).then((download) => download.text())),
    asked: () =>
      all.requests.filter(isStorage).map(({ url, headers }) => {
        const range = [headers.get("range"), headers.get("if-range")].filter((value) => value !== null);
        return [url.searchParams.get("signature"), ...range];
      }),
  };
}

import type { UIMessageChunk } from "cursor-cloud-agents/ai-sdk";

/** The messages of an SSE body, each without its newlines; comments start with a colon. */
export function messagesOf(body: string): string[] {
  if (body !== "" && !body.endsWith("\n\n")) throw new Error("the body ends inside a message");
  return body.split("\n\n").slice(0, -1);
}

/** The chunks of a whole body, which has to end in [DONE]. */
export function chunksOf(body: string): UIMessageChunk[] {
  const messages = messagesOf(body).filter((message) => !message.startsWith(":"));
  if (messages.pop() !== "data: [DONE]") throw new Error("the body has no [DONE] at its end");
  return messages.map((message) => JSON.parse(message.slice("data: ".length)) as UIMessageChunk);
}

/** Reads a body piece by piece. */
export function readerOf(response: Response) {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  return {
    next: async (): Promise<string | undefined> => {
      const { done, value } = await reader.read();
      return done ? undefined : decoder.decode(value, { stream: true });
    },
    cancel: () => reader.cancel(),
  };
}

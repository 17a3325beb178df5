import { randomBytes } from "node:crypto";

/** One prompt and the run that works on it. */
export interface Turn {
  runId: string;
  prompt: string;
  startedAt: number;
}

/** What a session has started: an agent, and its runs, oldest first. */
export interface Conversation {
  agentId: string;
  repository?: string;
  model?: string;
  turns: Turn[];
}

const cookieName = "example_session";
const idForm = /^[A-Za-z0-9_-]{43}$/;

/**
 * Who owns which agent. The key sees every agent of the account, so this is what keeps people apart. Kept in memory,
 * where an app has a database.
 */
export class Sessions {
  readonly #conversations = new Map<string, Map<string, Conversation>>();

  /** The session a request's cookie names, if it is one of ours. */
  idOf(request: Request): string | undefined {
    for (const pair of (request.headers.get("cookie") ?? "").split(/; */)) {
      const [name, value = ""] = pair.split("=", 2);
      if (name === cookieName && idForm.test(value) && this.#conversations.has(value)) return value;
    }
    return undefined;
  }

  /** Begins a session. Returns the header that hands it to the browser, out of reach of scripts and of other sites. */
  begin(): { "set-cookie": string } {
    const id = randomBytes(32).toString("base64url");
    this.#conversations.set(id, new Map());
    return { "set-cookie": `${cookieName}=${id}; HttpOnly; SameSite=Strict; Path=/` };
  }

  add(session: string, conversation: Conversation): void {
    this.#conversations.get(session)?.set(conversation.agentId, conversation);
  }

  /** What a session has started, newest first. */
  list(session: string): Conversation[] {
    return [...(this.#conversations.get(session)?.values() ?? [])].reverse();
  }

  /** An agent, if the session started it. */
  find(session: string | undefined, agentId: string): Conversation | undefined {
    return session === undefined ? undefined : this.#conversations.get(session)?.get(agentId);
  }
}

// The client side as its users have it: the oldest and the newest release of each major of the AI SDK.

/** What we use of a message part; parts of other sorts have other fields. */
export interface Part {
  type: string;
  id?: string;
  text?: string;
  state?: string;
  toolCallId?: string;
  toolName?: string;
  input?: unknown;
  output?: unknown;
  errorText?: string;
  data?: Record<string, unknown>;
}
export interface Message {
  id: string;
  role: "user" | "assistant" | "system";
  parts: Part[];
  metadata?: unknown;
}
export interface Transport {
  sendMessages(options: {
    trigger: "submit-message";
    chatId: string;
    messageId: undefined;
    messages: Message[];
    abortSignal: AbortSignal | undefined;
  }): Promise<ReadableStream<{ type: string }>>;
}
export interface ChatOptions {
  id: string;
  transport: Transport;
  messages?: Message[];
  generateId?: () => string;
  onError?: (error: Error) => void;
  onFinish?: (event: { isError?: boolean; isAbort?: boolean; isDisconnect?: boolean }) => void;
  onToolCall?: (call: unknown) => void;
  sendAutomaticallyWhen?: (options: { messages: Message[] }) => boolean;
}
export interface Chat {
  readonly status: "submitted" | "streaming" | "ready" | "error";
  readonly error: Error | undefined;
  readonly messages: Message[];
  sendMessage(message: { text: string }): Promise<void>;
  resumeStream(): Promise<void>;
  stop(): Promise<void>;
}
interface AiModule {
  DefaultChatTransport: new (options: { api: string; fetch: typeof fetch }) => Transport;
  AbstractChat: new (options: object) => Chat;
  lastAssistantMessageIsCompleteWithToolCalls: (options: { messages: Message[] }) => boolean;
}
interface ReactModule {
  useChat(options: ChatOptions & { resume?: boolean }): Chat;
}

export interface AiVersion {
  name: string;
  ai: () => Promise<AiModule>;
  react: () => Promise<ReactModule>;
  /** From 5.0.2 on an answer of 204 leaves a chat ready; before that it is left waiting. */
  knows204: boolean;
  /** From 5.0.233, 6.0.250 and 7.0.62 on a resumed message replaces the one that is there; before that it grows in it. */
  replacesResumed: boolean;
}

const version = (
  name: string,
  ai: () => Promise<unknown>,
  react: () => Promise<unknown>,
  facts: { knows204?: boolean; replacesResumed?: boolean } = {},
): AiVersion => ({
  name,
  ai: ai as () => Promise<AiModule>,
  react: react as () => Promise<ReactModule>,
  knows204: true,
  replacesResumed: true,
  ...facts,
});

export const aiVersions: AiVersion[] = [
  version(
    "the oldest ai 5",
    () => import("ai-5-oldest"),
    () => import("ai-react-5-oldest"),
    { knows204: false, replacesResumed: false },
  ),
  version(
    "the newest ai 5",
    () => import("ai-5-newest"),
    () => import("ai-react-5-newest"),
  ),
  version(
    "the oldest ai 6",
    () => import("ai-6-oldest"),
    () => import("ai-react-6-oldest"),
    { replacesResumed: false },
  ),
  version(
    "the newest ai 6",
    () => import("ai-6-newest"),
    () => import("ai-react-6-newest"),
  ),
  version(
    "the oldest ai 7",
    () => import("ai-7-oldest"),
    () => import("ai-react-7-oldest"),
    { replacesResumed: false },
  ),
  version(
    "the newest ai 7",
    () => import("ai-7-newest"),
    () => import("ai-react-7-newest"),
  ),
];

/** A chat without a framework, over a state of plain fields. */
export function createChat(ai: AiModule, { messages = [], ...options }: ChatOptions): Chat {
  const state = {
    status: "ready",
    error: undefined,
    messages: [...messages],
    pushMessage: (message: Message) => void state.messages.push(message),
    popMessage: () => void state.messages.pop(),
    replaceMessage: (index: number, message: Message) => {
      state.messages[index] = structuredClone(message);
    },
    snapshot: <T>(value: T): T => structuredClone(value),
  };
  return new (class extends ai.AbstractChat {})({ ...options, state });
}

/** Lets everything in memory happen until the condition holds; nothing here waits for time. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  for (let turn = 0; turn < 20_000; turn++) {
    if (condition()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error(`never came: ${what}`);
}

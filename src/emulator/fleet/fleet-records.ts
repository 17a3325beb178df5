/** A repository as the fleet names it. */
export interface FleetRepo {
  owner: string;
  name: string;
  /** Without credentials. */
  url: string;
}

/** Who asked for an agent. */
export interface Requester {
  userId: number;
  userEmail?: string;
  serviceAccountId?: string;
}

/**
 * Where a request stands. `pending` and `claimed_offline` are listed; `claimed` waits for its worker to start; `running` has
 * it; `idle` has no turn that waits; `expired` left the queue unclaimed.
 */
export type FleetRequestState = "pending" | "claimed" | "claimed_offline" | "running" | "idle" | "expired";

/** The turn that waits for a worker: a run of an agent, or nothing for requests that tests make up. @internal */
export interface Turn {
  start(): void;
  end(status: "ERROR" | "EXPIRED"): void;
  isOver(): boolean;
}

/** A request of the queue. @internal */
export interface RequestRecord extends Requester {
  id: string;
  owner: string;
  order: number;
  /** For a machine of one user: never listed, never told of. */
  isPersonal: boolean;
  machineName?: string;
  repo?: FleetRepo;
  labels: { key: string; value: string }[];
  createdAtMs: number;
  state: FleetRequestState;
  /** The live claim. */
  claim?: { workerId: string };
  /** The worker of the running turn, also when its claim was released meanwhile. */
  runningOn?: string;
  /** End of the reconnect window of a claimed request whose worker is offline. */
  lapsesAtMs?: number;
  lapseTimer?: unknown;
  turn?: Turn;
  /** What Fail A Claim told the waiting user. */
  failure?: string;
}

/** A connected worker. @internal */
export interface WorkerRecord {
  workerId: string;
  owner: string;
  order: number;
  pool?: string;
  repo?: FleetRepo;
  name: string;
  userId: number;
  serviceAccountId?: string;
  workspaceRootPath: string;
  connectedAtMs: number;
}

/** A registered pool. @internal */
export interface PoolRecord {
  /** `undefined`: it is every team's, as those of the emulator's options are. */
  owner: string | undefined;
  scope: "user" | "team";
  ownerId: number;
  poolName: string;
  repo?: FleetRepo;
  firstSeenAtMs: number;
  lastSeenAtMs: number;
  offlineReconnectTimeoutSeconds: number;
}

/** `owner/name` or a URL; credentials are left out. @internal */
export function toFleetRepo(repo: string): FleetRepo {
  if (!URL.canParse(repo)) {
    const [owner = "", name = ""] = repo.split("/");
    return { owner, name, url: `https://github.com/${owner}/${name}` };
  }
  const url = new URL(repo);
  url.username = "";
  url.password = "";
  const path = url.pathname.replace(/(\.git)?\/*$/, "").split("/");
  return { owner: path.slice(1, -1).join("/"), name: path.at(-1) ?? "", url: url.href.replace(/\/$/, "") };
}

/** The pool a request is for: its label, else `default`. @internal */
export function poolOf(record: Pick<RequestRecord, "labels">): string {
  return poolLabelOf(record) ?? "default";
}

/** The `pool` label, which filters are compared with. @internal */
export function poolLabelOf(record: Pick<RequestRecord, "labels">): string | undefined {
  return record.labels.find(({ key }) => key === "pool")?.value;
}

import { accountRoutes } from "./account-routes.ts";
import { agentRoutes } from "./agents/agent-routes.ts";
import { artifactRoutes } from "./agents/artifact-routes.ts";
import type { Route } from "./core.ts";
import { environmentRoutes } from "./environments/environment-routes.ts";
import { listSecretsRoute } from "./environments/list-secrets.ts";
import { secretRoutes } from "./environments/secret-routes.ts";
import { runRoutes } from "./runs/run-routes.ts";
import { claimRoutes } from "./workers/claim-routes.ts";
import { queueRoutes } from "./workers/queue-routes.ts";
import { workerByIdRoutes, workerRoutes } from "./workers/worker-routes.ts";

/** Every operation of the API that is emulated. */
export const routes: readonly Route[] = [
  ...agentRoutes,
  ...runRoutes,
  ...accountRoutes,
  ...artifactRoutes,
  ...workerRoutes,
  ...queueRoutes,
  ...claimRoutes,
  ...workerByIdRoutes,
  ...environmentRoutes,
  listSecretsRoute,
  ...secretRoutes,
];

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // Invalid escapes stay as they are: no id contains them, so the lookup fails.
  }
}

/** A route, and the path parameters of the request that it matches. @internal */
export interface MatchedRoute {
  route: Route;
  params: Record<string, string>;
}

/** The operation for a method and a raw path without its query. @internal */
export function matchRoute(method: string, path: string): MatchedRoute | undefined {
  const segments = path.split("/");
  for (const route of routes) {
    const template = route.path.split("/");
    if (route.method !== method || template.length !== segments.length) continue;
    const params: Record<string, string> = {};
    const fits = template.every((part, index) => {
      const segment = segments[index] ?? "";
      const name = /^\{(.+)\}$/.exec(part)?.[1];
      if (name === undefined) return part === segment;
      params[name] = decodeSegment(segment);
      return segment !== "";
    });
    if (fits) return { route, params };
  }
  return undefined;
}

/** The query of a request target; repeated parameters become arrays. @internal */
export function queryOf(target: string): Record<string, string | string[]> {
  const at = target.indexOf("?");
  const parameters = new URLSearchParams(at < 0 ? "" : target.slice(at + 1));
  const query: Record<string, string | string[]> = {};
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name);
    query[name] = values.length === 1 ? (values[0] as string) : values;
  }
  return query;
}

import { accountRoutes } from "./account-routes.ts";
import { agentRoutes } from "./agent-routes.ts";
import { artifactRoutes } from "./artifact-routes.ts";
import type { Route } from "./core-context.ts";
import { environmentRoutes } from "./environments/environment-routes.ts";
import { secretRoutes } from "./environments/secret-routes.ts";
import { claimRoutes } from "./fleet/claim-routes.ts";
import { queueRoutes } from "./fleet/queue-routes.ts";
import { workerByIdRoutes, workerRoutes } from "./fleet/worker-routes.ts";
import { runRoutes } from "./run-routes.ts";

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
  ...secretRoutes,
];

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // Broken escapes match as they are, and then nothing.
  }
}

/** The operation of a method and a raw path without a query. */
export function matchRoute(
  method: string,
  path: string,
): { route: Route; params: Record<string, string> } | undefined {
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

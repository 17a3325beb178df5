export type { RequestChange, RequestChangeReason } from "./queue-view.ts";
export {
  controlRequests,
  type RequestController,
  type RequestControllerOptions,
} from "./request-controller.ts";
export type { CallbackContext, ControllerClaim, StartRefusal } from "./request-handler.ts";
export { type RequestQueue, type WatchRequestsOptions, watchRequests } from "./request-queue.ts";

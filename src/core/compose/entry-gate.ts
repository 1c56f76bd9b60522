import { toMiddleware } from '../kernel/define.ts';
import type { Operation, GatewayContext, Middleware } from '../kernel/index.ts';
import type { NodeTree } from '../tenants/tree.ts';
import type { AnswerRequest, SnapshotPart } from './snapshot-part.ts';
import type { Watch } from './chain-builder.ts';
import type { InFlight } from '../http/gateway/admission/in-flight.ts';

/**
 * The second step of admission: the caller's share, once a plugin has identified the caller, and the answer where no
 * plugin has one. It is no plugin, so no plugin list can leave it out.
 */
export const admitting = (gate: EntryGate, watch: Watch = {}): Watch => ({
  ...watch,
  instantiate(place, create) {
    if (!place.plugin.provides.includes('caller')) return watch.instantiate?.(place, create) ?? create();
    const checked = async (): Promise<Middleware> => counting(withCheck(toMiddleware(await create()), gate), gate);
    return watch.instantiate?.(place, checked) ?? checked();
  },
});

interface EntryGate extends Pick<SnapshotPart, 'refuseAddress'> {
  /** Refuses callers that a plugin has put into a team which does not exist. */
  readonly tree: Pick<NodeTree, 'pathOf'>;
  readonly inFlight: Pick<InFlight, 'admit'>;
  /** Operations that no plugin answers, such as the handshake of a WebSocket. */
  readonly answers: ReadonlyMap<Operation | undefined, AnswerRequest>;
}

/** Counts requests without a valid key by their address, if the settings have a limit for them. */
function counting(middleware: Middleware, { refuseAddress }: EntryGate): Middleware {
  if (!refuseAddress) return middleware;
  return async (ctx, next) => {
    try {
      await middleware(ctx, next);
    } catch (error) {
      const { caller, request } = ctx.exchange;
      throw caller ? error : (refuseAddress(request.remoteAddress) ?? error);
    }
  };
}

const withCheck =
  (middleware: Middleware, { inFlight, answers, tree }: EntryGate): Middleware =>
  (ctx: GatewayContext, next) =>
    middleware(ctx, () => {
      const { exchange } = ctx;
      const refusal = inFlight.admit(exchange);
      if (refusal) return refused(refusal);
      try {
        if (exchange.caller) tree.pathOf(exchange.caller);
        const answer = answers.get(exchange.operation);
        if (!answer) return next();
        exchange.reply = answer(ctx);
        return Promise.resolve();
      } catch (error) {
        return refused(error);
      }
    });

function refused(reason: unknown): Promise<void> {
  const rejected = Promise.reject<void>(reason);
  // Without a handler, a plugin that forgets to await `next` would end the process.
  rejected.catch(() => {});
  return rejected;
}

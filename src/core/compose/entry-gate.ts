import { toMiddleware } from '../kernel/define.ts';
import type { Exchange, Operation, GatewayContext, Middleware } from '../kernel/index.ts';
import { NotMine } from '../../plugin/index.ts';
import type { NodeTree } from '../tenants/tree.ts';
import type { AnswerRequest, SnapshotPart } from './snapshot-part.ts';
import type { PluginRegistry } from '../http/chain/registry.ts';
import { pluginOf } from '../http/chain/list-part.ts';
import { ChainFault } from '../http/chain/instance.ts';
import { blame } from '../kernel/outside/blame.ts';
import type { Report } from '../kernel/report.ts';
import type { ChainPlace, ListedPlugin, Watch } from './chain-builder.ts';
import type { InFlight } from '../http/gateway/admission/in-flight.ts';

/**
 * The second step of admission: the caller's share, once a plugin has identified the caller, and the answer where no
 * plugin has one. It is no plugin, so no plugin list can leave it out.
 */
export const admitting = (gate: EntryGate, watch: Watch = {}): Watch => ({
  ...watch,
  instantiate(place, create) {
    if (!place.plugin.provides.includes('caller')) return watch.instantiate?.(place, create) ?? create();
    const { methods } = gate;
    const at = methods.indexOf(methodAt(place.path));
    const checked = async (): Promise<Middleware> => {
      const method = withCheck(toMiddleware(await create()), place.instance, gate);
      const isLast = at < 0 || at === methods.length - 1;
      const one = methods.length > 1 ? oneOfSeveral(method, place.instance, isLast) : method;
      // The first method has all others inside: a request counts once.
      return at > 0 ? one : counting(one, gate);
    };
    return watch.instantiate?.(place, checked) ?? checked();
  },
});

/** The name of a place in the settings: one that a change of the default chain has added is no index of the chain. */
export const methodAt = (path: ListedPlugin['path']): string => path.join('.');

/**
 * The places of the plugins that identify callers, in the order of the entry chain. Reports a plugin between them that needs the
 * caller: it would run before the later ones, and keep no limit of their callers.
 */
export function methodsOf(chain: ChainPlace, registry: PluginRegistry, report: Report): readonly string[] {
  const places = chain.items.map((item, position) => {
    const index = chain.indexes?.[position] ?? position;
    const path = [...chain.path, ...(typeof index === 'number' ? [index] : index.at)];
    return { name: pluginOf(item), path, plugin: registry.get(pluginOf(item))?.plugin };
  });
  const isMethod = ({ plugin }: (typeof places)[number]): boolean => plugin?.provides.includes('caller') ?? false;
  const [from, to] = [places.findIndex(isMethod), places.findLastIndex(isMethod)];
  for (const place of places.slice(from + 1, Math.max(to, 0))) {
    const { name, path, plugin } = place;
    if (!isMethod(place) && plugin?.requires.includes('caller'))
      report({ path, message: `"${name}" needs the caller: put it behind "${places[to]!.name}", which may know it` });
  }
  return places.filter(isMethod).map(({ path }) => methodAt(path));
}

const tried = new WeakMap<Exchange, readonly string[]>();

/** One of several plugins that identify callers: it does not run once another one has, and where it says `NotMine` the next one tries. */
const oneOfSeveral =
  (method: Middleware, name: string, isLast: boolean): Middleware =>
  async (ctx, next) => {
    const { exchange } = ctx;
    // The method that knows the caller has passed the check.
    if (exchange.caller) return next();
    try {
      return await method(ctx, next);
    } catch (error) {
      if (!(error instanceof NotMine) || exchange.caller) throw error;
      const all = [...(tried.get(exchange) ?? []), `${name}: ${error.message}`];
      if (isLast)
        throw new NotMine(
          `No method of this gateway knows the caller. ${all.join(' ')}`,
          error.code === 'missing_api_key' ? error.code : 'invalid_api_key',
        );
      tried.set(exchange, all);
    }
    return next();
  };

interface EntryGate extends Pick<SnapshotPart, 'refuseAddress'> {
  /** Refuses callers that a plugin has put into a team which does not exist. */
  readonly tree: Pick<NodeTree, 'pathOf'>;
  readonly inFlight: Pick<InFlight, 'admit'>;
  /** The places (`methodAt`) of the plugins that identify callers, in the order of the entry chain. */
  readonly methods: readonly string[];
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
  (middleware: Middleware, name: string, { inFlight, answers, tree }: EntryGate): Middleware =>
  (ctx: GatewayContext, next) =>
    middleware(ctx, () => {
      const { exchange } = ctx;
      // Without a caller no limit, no budget and no list of models would apply.
      if (!exchange.caller) return refused(blame(new ChainFault(`plugin "${name}" has set no caller`), name));
      const refusal = inFlight.admit(exchange);
      if (refusal) return refused(refusal);
      try {
        tree.pathOf(exchange.caller);
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

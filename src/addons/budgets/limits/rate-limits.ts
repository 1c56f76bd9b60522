import type { Limited } from './gate-directory.ts';
import { parseRate } from '../../../core/tenants/amounts.ts';
import type { Gates } from './gates.ts';
import { entryRef, refuseAddress, RequestGates } from './request-gates.ts';
import type { NodeChanges, NodeLimits, NodeTree } from '../../../core/tenants/tree.ts';
import type { Clock } from '../../../plugin/index.ts';
import type { LimitedKind, LimitKind } from '../../../plugin/errors.ts';
import { mayStoreLimits } from '../settings/state.ts';
import { compileNodeLimits } from '../settings/compile-node.ts';
import type { LoadResult, Settings } from '../../../core/settings/read/load.ts';

export interface RateLimitsSetup {
  readonly gates: Gates;
  readonly clock: Pick<Clock, 'now'>;
  /** Called for each refusal. Undefined in a dry run, which counts no addresses. */
  readonly rateLimited?: ((node: LimitedKind, limit: LimitKind) => void) | undefined;
}

/** The limits of which settings have any: what does not exist costs a request nothing. */
export interface LimitNeeds {
  /** Requests or concurrency of callers. */
  readonly callers: boolean;
  /** Tokens of callers. */
  readonly tokens: boolean;
  /** Anything that depends on the target: limits of catalog entries, and of models. */
  readonly targets: boolean;
}

export function composeRateLimits(
  { ok }: Pick<LoadResult, 'ok'>,
  { settings, tree }: { readonly settings: Settings; readonly tree: NodeTree },
  { gates, clock, rateLimited }: RateLimitsSetup,
) {
  const entries = ok ? limitedEntries(settings) : [];
  const { limits = {} } = settings.server;
  const perAddress = limits.unauthenticated === undefined ? undefined : parseRate(limits.unauthenticated);
  const nodes = tree.nodes();
  const setup = {
    gates,
    directory: gates.directory([...nodes, ...entries]),
    tree,
    clock,
    onRefused: rateLimited ?? (() => {}),
  };
  return {
    gates: new RequestGates(setup),
    needs: mayStoreLimits(settings.server)
      ? ALL_NEEDS
      : needsOf(
          nodes.flatMap(({ limits: own }) => own ?? []),
          entries.length > 0,
        ),
    /** Called when these settings take effect. */
    use() {
      setup.directory.use();
      gates.addresses.apply(perAddress);
    },
    /** Nodes have changed while these settings are in force. */
    change({ changed, before }: NodeChanges) {
      setup.directory = setup.directory.with(changed, before);
      setup.directory.use();
    },
    /** Undefined: requests without a valid key are not counted. */
    refuseAddress:
      perAddress && rateLimited && ((address: string) => refuseAddress({ gates, onRefused: rateLimited }, address)),
  };
}

const limitedEntries = ({ catalog }: Settings): Limited[] =>
  catalog.providers.flatMap((entry): Limited[] => {
    if (!('limits' in entry) || !entry.limits) return [];
    const { slug, limits } = entry;
    return [{ kind: 'entry', id: slug, ref: entryRef(slug), limits: compileNodeLimits(limits) }];
  });

/** The state store may get any limits at any time; the chains stay as they are then. */
const ALL_NEEDS: LimitNeeds = { callers: true, tokens: true, targets: true };

const needsOf = (limits: readonly NodeLimits[], hasEntries: boolean): LimitNeeds => ({
  // A rate of tokens needs the request to have entered.
  callers: limits.some(
    ({ requests, concurrency, tokens }) => requests !== undefined || concurrency !== undefined || tokens !== undefined,
  ),
  tokens: limits.some(({ tokens }) => tokens !== undefined),
  targets: hasEntries || limits.some(({ models }) => models.length > 0),
});

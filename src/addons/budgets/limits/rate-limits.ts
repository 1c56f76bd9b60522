import { parseRate } from '../../../core/tenants/amounts.ts';
import type { Limited } from './gate.ts';
import type { Gates } from './gates.ts';
import { entryRef, refuseAddress, RequestGates } from './request-gates.ts';
import type { NodeChanges, NodeLimits, NodeTree } from '../../../core/tenants/tree.ts';
import type { Clock, GatewayError } from '../../../plugin/index.ts';
import type { LimitedKind, LimitKind } from '../../../plugin/errors.ts';
import { mayStoreLimits } from '../settings/owned-kinds.ts';
import { compileNodeLimits } from '../settings/compile-node.ts';
import type { LoadResult, Settings } from '../../../core/settings/read/load.ts';

export interface RateLimitsSetup {
  readonly gates: Gates;
  readonly clock: Pick<Clock, 'now'>;
  /** Called for each refusal. Undefined in a dry run, which counts no addresses. */
  readonly rateLimited?: ((node: LimitedKind, limit: LimitKind) => void) | undefined;
}

/** The limits of rates of one version of the settings. */
export interface ComposedRateLimits {
  readonly gates: RequestGates;
  /** Which of them exist: what does not exist costs a request nothing. */
  readonly needs: LimitNeeds;
  /** Called when these settings take effect. */
  use(): void;
  /** Nodes have changed while these settings are in force. */
  change(changes: NodeChanges): void;
  /** Counts a request without a valid key. Returns its refusal in place of its own error. Undefined: nothing is counted. */
  readonly refuseAddress: ((address: string) => GatewayError | undefined) | undefined;
}

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
): ComposedRateLimits {
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
    use() {
      setup.directory.use();
      gates.addresses.apply(perAddress);
    },
    change({ changed, before }) {
      setup.directory = setup.directory.with(changed, before);
      setup.directory.use();
    },
    refuseAddress:
      perAddress && rateLimited && ((address) => refuseAddress({ gates, onRefused: rateLimited }, address)),
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

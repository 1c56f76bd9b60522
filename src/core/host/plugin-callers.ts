import { GatewayError, type Caller } from '../../plugin/index.ts';
import type { CallerMaker, NewCaller } from '../../plugin/services.ts';
import { messageOf } from '../kernel/outside/thrown.ts';
import type { OwnLimits } from '../kernel/rate-limits.ts';
import { callerWith, misconfigured } from '../settings/compile/key-record.ts';
import type { DigestRing } from '../settings/compile/key-ring.ts';
import type { Tenants } from '../settings/compile/tenants.ts';
import { parseRate } from '../tenants/amounts.ts';

export interface CallerSource {
  readonly keys: Pick<DigestRing, 'byId'>;
  /** The tenants in force, which change while a snapshot serves. */
  readonly tenants: () => Tenants;
  /** Names of the plugins of the entry chain. */
  readonly entry: ReadonlySet<string>;
}

const ID = /^[\w.@:-]{1,128}$/;

/** Callers that plugins ask for. What they name has to exist: a caller must not escape a budget by a typing error. */
export function callerMaker({ keys, tenants, entry }: CallerSource): CallerMaker {
  return {
    byId(id, remoteAddress) {
      const caller = keys.byId(id, remoteAddress);
      if (caller) return caller;
      throw new GatewayError('key_misconfigured', 'A plugin names a gateway key that does not exist.');
    },
    make(caller) {
      const { id, team, organization, metadata } = caller;
      if (typeof id !== 'string' || !ID.test(id))
        throw new GatewayError(
          'key_misconfigured',
          'A plugin has made a caller whose id is not 1 to 128 letters, digits and ._@:-.',
        );
      const current = tenants();
      if (current.key(id)) throw misconfigured(id, 'a plugin has made a caller with the id of a gateway key');
      const outer = team === undefined ? undefined : current.outer(`team:${team}`);
      const above = outer
        ? outer.organization
        : organization === undefined
          ? undefined
          : current.outer(`organization:${organization}`);
      // Throws for a team or an organization that does not exist.
      current.pathOf({ keyId: id, team, organization });
      if (organization !== undefined && above?.node.id !== organization)
        throw misconfigured(id, `its organization "${organization}" is not that of its team`);
      const made = callerWith(
        { ...keyOf(caller), ...(metadata && { metadata: { ...metadata } }) },
        {
          team: outer && { id: outer.node.id, metadata: outer.metadata },
          organization: above && { id: above.node.id, metadata: above.metadata },
        },
      );
      return withLimits(made, caller, entry);
    },
  };
}

/** An entry of keys.yaml with what the caller may. */
function keyOf(caller: NewCaller) {
  const { id, team, owner, models, providers, configs, defaultConfig, ...rest } = caller;
  const { organization: _organization, metadata: _metadata, limits: _limits, ...others } = rest;
  const [unknown] = Object.keys(others);
  // An unknown member may be a limit, which the gateway would not enforce.
  if (unknown !== undefined) throw misconfigured(id, `a caller has no "${unknown}"`);
  return {
    id,
    ...(team !== undefined && { team }),
    ...(owner !== undefined && { owner }),
    ...(models && { models: [...models] }),
    ...(providers && { providers: [...providers] }),
    ...(configs && { configs: [...configs] }),
    ...(defaultConfig !== undefined && { default_config: defaultConfig }),
  };
}

function withLimits(
  made: Caller,
  { id, limits }: NewCaller,
  entry: ReadonlySet<string>,
): Caller & { limits?: OwnLimits } {
  if (!limits || Object.keys(limits).length === 0) return made;
  const needed = 'tokens' in limits ? ['limit', 'limit-tokens'] : ['limit'];
  const missing = needed.find((plugin) => !entry.has(plugin));
  if (missing !== undefined)
    throw misconfigured(id, `it has limits, and \`chains.entry\` of server.yaml has no plugin "${missing}"`);
  return { ...made, limits: limitsOf(id, limits) };
}

function limitsOf(id: string, limits: NonNullable<NewCaller['limits']>): OwnLimits {
  const { requests, tokens, concurrency, ...others } = limits;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw misconfigured(id, `there is no limit "${unknown}"`);
  if (concurrency !== undefined && !(Number.isInteger(concurrency) && Number(concurrency) > 0))
    throw misconfigured(id, 'its limit of concurrency is no whole number above 0');
  try {
    return {
      ...(requests !== undefined && { requests: parseRate(String(requests)) }),
      ...(tokens !== undefined && { tokens: parseRate(String(tokens)) }),
      ...(concurrency !== undefined && { concurrency: Number(concurrency) }),
    };
  } catch (error) {
    throw misconfigured(id, `a limit of it is no rate, such as 60/min (${messageOf(error)})`);
  }
}

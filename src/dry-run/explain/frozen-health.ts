import type { Exchange, GatewayConfig, HealthDirectory, Target, TargetHealth } from '../../plugin/index.ts';
import { targetsOf } from '../../state/memory/target-health.ts';

/** How a target did at one moment. */
export type HealthThen = Pick<TargetHealth, 'state' | 'retryAt' | 'admits'>;

/** How the targets of one config did at one moment, by their paths. A target that is not there was well. */
export type FrozenHealth = ReadonlyMap<string, HealthThen>;

export const WELL: HealthThen = { state: 'closed', retryAt: 0, admits: true };

/** @param exchange see `HealthDirectory` */
export type ReadHealth = (
  config: GatewayConfig,
  target: Target,
  exchange: Exchange | undefined,
) => HealthThen | undefined;

/** Those of a config's targets that are not simply well. */
export function freezeHealth(
  config: GatewayConfig,
  read: (config: GatewayConfig, target: Target) => HealthThen | undefined,
): FrozenHealth {
  return new Map(
    targetsOf(config.route).flatMap((target) => {
      const health = read(config, target);
      if (!health || health.state === 'closed') return [];
      const { state, retryAt, admits } = health;
      return [[target.path, { state, retryAt, admits }] as const];
    }),
  );
}

/** Health that is read and never written: what explain supposes says nothing of a target. */
export const readOnlyHealth = (read: ReadHealth): HealthDirectory => ({
  of(config, target, exchange) {
    // One by one: those of a breaker are getters, which no spread takes along.
    const { state, retryAt, admits } = read(config, target, exchange) ?? WELL;
    // Where no breaker is configured health is only told.
    const probe = target.breaker.enforced && state !== 'closed' && admits;
    return { state, retryAt, admits, begin: () => ({ probe, succeeded() {}, failed() {}, abandoned() {} }) };
  },
});

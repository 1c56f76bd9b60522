import type { Exchange, GatewayConfig, HealthDirectory, Target, TargetHealth } from '../../plugin/index.ts';
import { targetsOf } from '../../state/ports.ts';

/** Health of a target at one point in time. */
export type HealthThen = Pick<TargetHealth, 'state' | 'retryAt' | 'admits'>;

/** Health of the targets of one config at one point in time, by path. A missing target was healthy. */
export type FrozenHealth = ReadonlyMap<string, HealthThen>;

export const WELL: HealthThen = { state: 'closed', retryAt: 0, admits: true };

/** @param exchange see `HealthDirectory` */
export type ReadHealth = (
  config: GatewayConfig,
  target: Target,
  exchange: Exchange | undefined,
) => HealthThen | undefined;

/** The health of a config's targets, without healthy ones. */
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

/** Health that is read and never written: an assumed failure is no evidence about a target. */
export const readOnlyHealth = (read: ReadHealth): HealthDirectory => ({
  of(config, target, exchange) {
    // Copied one by one: a breaker's fields are getters, which a spread omits.
    const { state, retryAt, admits } = read(config, target, exchange) ?? WELL;
    // Without an enforced breaker, health is only reported.
    const probe = target.breaker.enforced && state !== 'closed' && admits;
    return { state, retryAt, admits, begin: () => ({ probe, succeeded() {}, failed() {}, abandoned() {} }) };
  },
});

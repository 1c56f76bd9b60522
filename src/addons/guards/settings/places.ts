import type { GatewayFile, GatewayKey, Guard, ServerFile, Target } from '../../../../schemas/types.generated.ts';
import { guardsIn } from '../portkey/guards-in.ts';

interface Files {
  readonly server: ServerFile;
  readonly keys: { readonly keys: readonly GatewayKey[] };
  readonly gateway: ReadonlyMap<string, GatewayFile>;
}

/** Whether settings have guards that run once for a request, and guards that run at each attempt. */
export const placesOf = ({
  server,
  keys,
  gateway,
}: Files): { readonly request: boolean; readonly target: boolean } => ({
  request: has(server) || keys.keys.some(has) || gateway.values().some(hasAny),
  target: gateway.values().some(hasInTargets),
});

const has = ({ guards = [] }: { readonly guards?: readonly Guard[] }): boolean => guards.length > 0;

const hasInTargets = ({ targets = [] }: Pick<Target, 'targets'>): boolean =>
  targets.some((target) => hasAny(target) || hasInTargets(target));

const hasAny = (file: Target): boolean => guardsIn(file).length > 0;

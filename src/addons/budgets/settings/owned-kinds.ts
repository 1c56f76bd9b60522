import type { ServerFile } from '../../../../schemas/types.generated.ts';

const WITH_NODES: readonly string[] = ['keys', 'teams', 'organizations'];

const ownsOneOf = ({ state }: Pick<ServerFile, 'state'>, kinds: readonly string[]): boolean =>
  (state?.owns ?? []).some((kind) => kinds.includes(kind));

/** The state store may get a budget at any time. */
export const mayStoreBudgets = (server: Pick<ServerFile, 'state'>): boolean =>
  ownsOneOf(server, [...WITH_NODES, 'budgets']);

/** The state store may get limits at any time. */
export const mayStoreLimits = (server: Pick<ServerFile, 'state'>): boolean =>
  ownsOneOf(server, [...WITH_NODES, 'limits']);

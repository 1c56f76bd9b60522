/** What series of statistics can be split and filtered by. */
export const STATS_DIMENSIONS = ['state', 'error', 'key', 'team', 'config', 'provider', 'model'] as const;
export type StatsDimension = (typeof STATS_DIMENSIONS)[number];

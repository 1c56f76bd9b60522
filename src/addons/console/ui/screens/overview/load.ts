import { allOf, api, ask } from '../../api/index.ts';
import { RANGES, type OverviewState, type PlottedStats, type RangeName } from './figures.ts';

export interface OverviewStats {
  readonly whole: PlottedStats;
  readonly keys: PlottedStats;
  readonly models: PlottedStats;
  readonly errors: PlottedStats;
}

export async function loadOverview(range: RangeName, signal: AbortSignal): Promise<OverviewStats> {
  const to = Date.now();
  const query = { from: new Date(to - RANGES[range]).toISOString(), to: new Date(to).toISOString() };
  const stats = (by?: string): Promise<PlottedStats> =>
    ask(api.GET('/stats', { params: { query: { ...query, ...(by !== undefined && { by }) } }, signal }));
  const [whole, keys, models, errors] = await Promise.all([stats(), stats('key'), stats('model'), stats('error')]);
  return { whole, keys, models, errors };
}

export async function loadState(signal: AbortSignal): Promise<OverviewState> {
  const [settings, providers, keys, budgets] = await Promise.all([
    ask(api.GET('/settings', { params: {}, signal })),
    allOf((query) => ask(api.GET('/providers', { params: { query }, signal }))),
    allOf((query) => ask(api.GET('/keys', { params: { query }, signal }))),
    allOf((query) => ask(api.GET('/budgets', { params: { query }, signal }))),
  ]);
  return { settings, providers, keys, budgets };
}

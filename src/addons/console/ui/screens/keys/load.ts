import { allOf, api, ask } from '../../api/index.ts';

export async function loadObjects(signal: AbortSignal) {
  const [organizations, teams, keys, budgets] = await Promise.all([
    allOf((query) => ask(api.GET('/organizations', { params: { query }, signal }))),
    allOf((query) => ask(api.GET('/teams', { params: { query }, signal }))),
    allOf((query) => ask(api.GET('/keys', { params: { query }, signal }))),
    allOf((query) => ask(api.GET('/budgets', { params: { query }, signal }))),
  ]);
  return { organizations, teams, keys, budgets };
}

export type KeyObjects = Awaited<ReturnType<typeof loadObjects>>;

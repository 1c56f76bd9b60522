import type { Branch, ConditionInput, ConfigDirectory, GatewayConfig, Route } from '../../../core/kernel/index.ts';

interface Condition extends Pick<Branch, 'query'> {
  readonly at: string;
  readonly index: number;
}

/** Whether a condition holds, in place of the values of the request. Undefined: they decide. */
export type Decide = (condition: Condition, request: ConditionInput) => boolean | undefined;

/** Stored configs whose conditions a question may decide. */
export function decidedConfigs(configs: ConfigDirectory, decide: () => Decide | undefined): ConfigDirectory {
  const known = new WeakMap<GatewayConfig, GatewayConfig>();
  return {
    ...configs,
    get(id) {
      const config = configs.get(id);
      if (!config || !decide()) return config;
      let decided = known.get(config);
      if (!decided) known.set(config, (decided = { ...config, route: decidedRoute(config.route, decide) }));
      return decided;
    },
  };
}

function decidedRoute(route: Route, decide: () => Decide | undefined): Route {
  if (route.kind === 'target') return route;
  const inner = new Map(route.members.map((member) => [member, decidedRoute(member, decide)]));
  const members = [...inner.values()];
  if (route.kind === 'group') return { ...route, members };
  return {
    ...route,
    members,
    otherwise: inner.get(route.otherwise) ?? route.otherwise,
    branches: route.branches.map((branch, index) => ({
      ...branch,
      member: inner.get(branch.member) ?? branch.member,
      holds: (request) => decide()?.({ query: branch.query, at: route.path, index }, request) ?? branch.holds(request),
    })),
  };
}

import type { GatewayFile } from '../../../../schemas/types.generated.ts';
import type { GatewayConfig, Route, Target } from '../../../plugin/index.ts';
import { compileGatewayConfig } from '../../../settings/compile/gateway-config.ts';
import type { Settings } from '../../../settings/read/load.ts';
import type { JsonPath } from '../../../settings/read/pointer.ts';
import { levelsIn } from '../../run/written-config.ts';

/** A target of a config, or what stands for one where a request names no config. */
export interface PlacedTarget {
  readonly config: GatewayConfig;
  /** Undefined for requests without a config. */
  readonly file: string | undefined;
  readonly target: Target;
  /** The list that lets headers of this target through. */
  readonly forwardAt: JsonPath | undefined;
}

export function targetsOf(settings: Settings): readonly PlacedTarget[] {
  const direct = compileGatewayConfig('', {});
  const configs = [...settings.gateway].map(([id, file]) => ({ file, config: compileGatewayConfig(id, file) }));
  return [
    ...targetsIn(direct.route).map((target) => ({ config: direct, file: undefined, target, forwardAt: undefined })),
    ...configs.flatMap(({ file, config }) =>
      targetsIn(config.route).map((target) => ({
        config,
        file: `gateway/${config.id}.yaml`,
        target,
        forwardAt: forwardList(file, target.path),
      })),
    ),
  ];
}

export const targetsIn = (route: Route): readonly Target[] =>
  route.kind === 'target' ? [route] : route.members.flatMap(targetsIn);

/** The nearest one, from the target up to its config: a list replaces those around it. */
function forwardList(file: GatewayFile, target: string): JsonPath | undefined {
  const level = levelsIn(file, target).find(({ says }) => says.forward_headers);
  return level && [...level.path, 'forward_headers'];
}

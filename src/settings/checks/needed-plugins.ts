import type { ChainItem, GatewayFile, ServerFile, Target as TargetFile } from '../../../schemas/types.generated.ts';
import type { Report } from '../../plugin/index.ts';
import type { JsonPath } from '../read/pointer.ts';

/** Reports settings that have no effect because the chain does not include the plugin that reads them. */
export function checkNeededPlugins(file: GatewayFile, server: ServerFile | undefined, report: Report): void {
  if (!server) return;
  const { request, attempt } = server.chains ?? {};
  const requestChain = file.plugins ?? request;
  const requestPlace = file.plugins ? '`plugins` of this config' : '`chains.request` of server.yaml';
  if (file.metadata && requestChain && !has(requestChain, 'metadata'))
    report({
      path: ['metadata'],
      on: 'key',
      message: `\`metadata\` needs the plugin "metadata", which ${requestPlace} does not include`,
    });
  if (!attempt) return;
  for (const { key, plugin } of OF_ATTEMPTS) {
    if (has(attempt, plugin)) continue;
    for (const path of placesOf(file, key, [])) {
      const message = `\`${key}\` needs the plugin "${plugin}", which \`chains.attempt\` of server.yaml does not include`;
      report({ path, on: 'key', message });
    }
  }
}

const OF_ATTEMPTS = [
  { key: 'default_params', plugin: 'override' },
  { key: 'override_params', plugin: 'override' },
  { key: 'drop_params', plugin: 'override' },
  { key: 'cache', plugin: 'cache' },
  { key: 'retry', plugin: 'retry' },
] as const;

type Key = (typeof OF_ATTEMPTS)[number]['key'];

/** Compares the plugin's own name: an instance may have any name. */
const has = (chain: readonly ChainItem[], plugin: string): boolean =>
  chain.some((item) => (typeof item === 'string' ? item : item.plugin) === plugin);

function placesOf(file: GatewayFile | TargetFile, key: Key, path: JsonPath): JsonPath[] {
  const own = file[key] === undefined ? [] : [[...path, key]];
  const inner = (file.targets ?? []).flatMap((target, index) => placesOf(target, key, [...path, 'targets', index]));
  return [...own, ...inner];
}

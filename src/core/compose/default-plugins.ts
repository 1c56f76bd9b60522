import type { ServerFile } from '../../../schemas/types.generated.ts';
import { PLUGIN_LEVELS } from '../kernel/define.ts';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import type { SnapshotPart } from './snapshot-part.ts';

/** The default chains with the plugins of the add-ons. A chain that the settings name stays as it is. */
export function withDefaultPlugins(
  server: ServerSettings,
  { chains = {} }: Pick<ServerFile, 'chains'>,
  parts: readonly SnapshotPart[],
): ServerSettings {
  const plugins = parts.flatMap((part) => part.plugins ?? []);
  const completed = PLUGIN_LEVELS.map((level) => {
    if (chains[level]) return [level, server.chains[level]] as const;
    const items = [...server.chains[level]];
    for (const { name, before, level: at } of plugins)
      if (at === level && items.includes(before)) items.splice(items.indexOf(before), 0, name);
    return [level, items] as const;
  });
  return { ...server, chains: Object.fromEntries(completed) as unknown as ServerSettings['chains'] };
}

import { namesOf } from '../http/chain/plugin-list.ts';
import { currentWork } from '../kernel/outside/plugin-work.ts';
import { GatewayError } from '../../plugin/index.ts';
import type { Capabilities, ConfigDirectory, GatewayConfig, GatewayContext } from '../kernel/index.ts';
import { credentialHeaders } from '../settings/checks/forward-headers.ts';
import { aliasedModels } from '../settings/compile/aliased-models.ts';
import { compileGatewayConfig } from '../settings/compile/gateway-config.ts';
import { InlineConfigs } from '../settings/read/inline-configs.ts';
import type { Settings } from '../settings/read/load.ts';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import { noChain, outerEntry, serverChain, type ChainBuilder } from './chain-builder.ts';
import type { PluginLists } from './plugin-lists.ts';

/** Refuses an operation without a task that no plugin of the entry chain has answered, nor the plugin it names. */
function refuseUnanswered({ exchange: { operation } }: GatewayContext, plugins: ReadonlySet<string>): void {
  if (!operation) return;
  const { method, path, task, plugin } = operation;
  if (plugin === undefined ? task !== undefined : plugins.has(plugin)) return;
  if (operation.unanswered) throw operation.unanswered();
  const reason =
    plugin === undefined
      ? ': `chains.entry` of server.yaml has no plugin for it'
      : ` here: the request chain has no plugin "${plugin}", or there are no ${plugin}`;
  throw new GatewayError('not_found', `This gateway does not serve ${method} ${path}${reason}.`);
}

/** Called when a request's config is known, before its chain runs. */
export type OnConfig = (config: GatewayConfig, ctx: GatewayContext) => void;

interface ConfigTools {
  readonly granted: Partial<Capabilities>;
  readonly lists: PluginLists;
  readonly hasBudgets: boolean;
  readonly onConfig: OnConfig | undefined;
}

/** Compiles the gateway configs, each with the chains that its `plugins` lists name. */
export async function compileConfigs(
  settings: Settings,
  server: ServerSettings,
  chainBuilder: ChainBuilder,
  { granted, lists, hasBudgets, onConfig }: ConfigTools,
): Promise<ConfigDirectory> {
  const provided = chainBuilder.providedTo('request', outerEntry(server));
  const request = serverChain(server, 'request');
  const standard = await chainBuilder.chain({ ...request, provided }, granted);
  const standardChain = { run: standard?.run ?? noChain, pluginNames: namesOf(request.items) };
  const configs = new Map<string, GatewayConfig>();
  const aliases = aliasedModels(settings.catalog);
  for (const [id, file] of settings.gateway) {
    const chains = await lists.compile(file, `gateway/${id}.yaml`);
    configs.set(id, compileGatewayConfig(id, file, { chains, aliases }));
  }
  const inline = new InlineConfigs({
    limit: server.limits.inlineConfig,
    server: settings.server,
    hasBudgets,
    secretHeaders: [...credentialHeaders(settings.catalog.providers).keys()],
    chains: (file, report) => lists.requested(file, report),
    aliases,
    onWarnings: (warnings) => chainBuilder.log.warn({ diagnostics: warnings }, 'an inline config has warnings'),
  });
  const run = (config: GatewayConfig, ctx: GatewayContext): Promise<void> => {
    const work = currentWork();
    if (work?.exchange === ctx.exchange) work.onHandOver?.();
    const chain = config.chain ?? standardChain;
    refuseUnanswered(ctx, chain.pluginNames);
    onConfig?.(config, ctx);
    return chain.run(ctx);
  };
  return {
    get: (id) => configs.get(id),
    inline: (json, header, may) => inline.get(json, header, may),
    ids: [...configs.keys()],
    fallbackId: server.defaultConfig,
    direct: compileGatewayConfig('', {}),
    run,
  };
}

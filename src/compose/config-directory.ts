import { currentWork } from '../chain/plugin-work.ts';
import {
  GatewayError,
  type Capabilities,
  type ConfigDirectory,
  type GatewayConfig,
  type GatewayContext,
} from '../plugin/index.ts';
import { credentialHeaders } from '../settings/checks/forward-headers.ts';
import { compileGatewayConfig } from '../settings/compile/gateway-config.ts';
import { InlineConfigs } from '../settings/compile/inline-configs.ts';
import type { Settings } from '../settings/read/load.ts';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import { noChain, outerEntry, serverChain, type ChainBuilder } from './chain-builder.ts';
import type { PluginLists } from './plugin-lists.ts';

/**
 * Refuses an operation without a model task. The entry chain's plugins answer those before a config is chosen, but a
 * custom entry chain may lack the plugin.
 */
function refuseUnanswered({ exchange: { operation } }: GatewayContext): void {
  if (!operation || operation.task !== undefined) return;
  throw new GatewayError(
    'not_found',
    `This gateway does not serve ${operation.method} ${operation.path}: \`chains.entry\` of server.yaml has no plugin for it.`,
  );
}

/** Called when a request's config is known, before its chain runs. */
export type OnConfig = (config: GatewayConfig, ctx: GatewayContext) => void;

interface ConfigTools {
  readonly granted: Partial<Capabilities>;
  readonly lists: PluginLists;
  /** Undefined: no listener. */
  readonly onConfig: OnConfig | undefined;
}

/** Compiles the gateway configs, each with the chains that its `plugins` lists name. */
export async function compileConfigs(
  settings: Settings,
  server: ServerSettings,
  chainBuilder: ChainBuilder,
  { granted, lists, onConfig }: ConfigTools,
): Promise<ConfigDirectory> {
  const provided = chainBuilder.providedTo('request', outerEntry(server));
  const standard = await chainBuilder.chain({ ...serverChain(server, 'request'), provided }, granted);
  const configs = new Map<string, GatewayConfig>();
  for (const [id, file] of settings.gateway)
    configs.set(id, compileGatewayConfig(id, file, await lists.compile(file, `gateway/${id}.yaml`)));
  const standardRun = standard?.run ?? noChain;
  const inline = new InlineConfigs({
    limit: server.limits.inlineConfig,
    server: settings.server,
    secretHeaders: [...credentialHeaders(settings.catalog.providers).keys()],
    chains: (file, report) => lists.requested(file, report),
    onWarnings: (warnings) => chainBuilder.log.warn({ diagnostics: warnings }, 'an inline config has warnings'),
  });
  const run = async (config: GatewayConfig, ctx: GatewayContext): Promise<void> => {
    const work = currentWork();
    if (work?.exchange === ctx.exchange) work.onHandOver?.();
    refuseUnanswered(ctx);
    onConfig?.(config, ctx);
    await (config.chain ? config.chain.run(ctx) : standardRun(ctx));
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

import type { Chain } from '../chain/instance.ts';
import { currentWork } from '../chain/plugin-work.ts';
import {
  GatewayError,
  type Capabilities,
  type ConfigDirectory,
  type GatewayConfig,
  type GatewayContext,
} from '../plugin/index.ts';
import { filesDisabled } from '../files/disabled-files.ts';
import { credentialHeaders } from '../settings/checks/forward-headers.ts';
import { compileGatewayConfig } from '../settings/compile/gateway-config.ts';
import { InlineConfigs } from '../settings/compile/inline-configs.ts';
import type { Settings } from '../settings/read/load.ts';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import { noChain, serverChain, type ChainBuilder } from './chain-builder.ts';

/**
 * Refuses an operation without a model task. The entry chain's plugins answer those before a config is chosen, but a
 * custom entry chain may lack the plugin.
 */
function refuseUnanswered({ exchange: { operation } }: GatewayContext, server: ServerSettings): void {
  if (!operation || operation.task !== undefined) return;
  if (operation.id.startsWith('files.') && !server.files) throw filesDisabled();
  throw new GatewayError(
    'not_found',
    `This gateway does not serve ${operation.method} ${operation.path}: \`chains.entry\` of server.yaml has no plugin for it.`,
  );
}

/** Called when a request's config is known, before its chain runs. */
export type OnConfig = (config: GatewayConfig, ctx: GatewayContext) => void;

interface ConfigTools {
  readonly granted: Partial<Capabilities>;
  /** Undefined: no listener. */
  readonly onConfig: OnConfig | undefined;
}

/** Compiles the gateway configs, each with its request chain. */
export async function compileConfigs(
  settings: Settings,
  server: ServerSettings,
  chainBuilder: ChainBuilder,
  { granted, onConfig }: ConfigTools,
): Promise<ConfigDirectory> {
  const provided = chainBuilder.providedToRequests(server);
  const standard = await chainBuilder.chain({ ...serverChain(server, 'request'), provided }, granted);
  const configs = new Map<string, GatewayConfig>();
  const chains = new Map<GatewayConfig, Chain>();
  for (const [id, file] of settings.gateway) {
    const config = compileGatewayConfig(id, file);
    configs.set(id, config);
    const own =
      file.plugins &&
      (await chainBuilder.chain(
        { level: 'request', file: `gateway/${id}.yaml`, path: ['plugins'], items: file.plugins, provided },
        granted,
      ));
    chains.set(config, (own ?? standard)?.run ?? noChain);
  }
  const inline = new InlineConfigs({
    limit: server.limits.inlineConfig,
    server: settings.server,
    secretHeaders: [...credentialHeaders(settings.catalog.providers).keys()],
    onWarnings: (warnings) => chainBuilder.log.warn({ diagnostics: warnings }, 'an inline config has warnings'),
  });
  const run = async (config: GatewayConfig, ctx: GatewayContext): Promise<void> => {
    const work = currentWork();
    if (work?.exchange === ctx.exchange) work.onHandOver?.();
    refuseUnanswered(ctx, server);
    onConfig?.(config, ctx);
    await (chains.get(config) ?? standard?.run ?? noChain)(ctx);
  };
  return {
    get: (id) => configs.get(id),
    inline: (json, header) => inline.get(json, header),
    ids: [...configs.keys()],
    fallbackId: server.defaultConfig,
    direct: compileGatewayConfig('', {}),
    run,
  };
}

import { builtinPlugins } from '../../../../plugins/index.ts';
import { PluginRegistry } from '../../../core/http/chain/registry.ts';
import { createLogger } from '../../../core/record/log/logger.ts';
import { definePlugin, type Middleware } from '../../../core/kernel/index.ts';
import { systemClock } from '../../../core/kernel/system-clock.ts';
import { memoryFiles } from '../../../core/settings/source/files.ts';
import type { Explanation } from '../explanation/explanation.ts';
import { Explainer, type ExplainerSetup } from './explainer.ts';
import type { ExplainQuestion } from './question.ts';

/** Text of the settings files, or values to write as JSON, which is YAML. */
export interface SettingsText {
  readonly server?: object | string;
  readonly catalog: object | string;
  readonly keys?: object | string;
  readonly gateway?: Readonly<Record<string, object | string>>;
}

const text = (value: object | string): string => (typeof value === 'string' ? value : JSON.stringify(value));
const KEYS = { keys: [{ id: 'team', key: '${env:TEAM_KEY:-gatehouse-test-key-0123456789}' }] };

/** An explainer of settings in the folder `configs`. */
export function createExplainer(settings: SettingsText, setup: Partial<ExplainerSetup> = {}): Explainer {
  const gateway = Object.entries(settings.gateway ?? {});
  const files = memoryFiles({
    'configs/server.yaml': text(settings.server ?? {}),
    'configs/catalog.yaml': text(settings.catalog),
    'configs/keys.yaml': text(settings.keys ?? KEYS),
    ...Object.fromEntries(gateway.map(([id, config]) => [`configs/gateway/${id}.yaml`, text(config)])),
  });
  const log = createLogger({ level: 'silent' });
  return new Explainer({ configs: 'configs', env: {}, files, clock: systemClock, log, ...setup });
}

/** A pure request plugin besides the built-in ones, with the number of created and open instances. */
export function withPlugin(name: string, middleware: Middleware = (_, next) => next()) {
  const seen = { made: 0, open: 0 };
  const plugin = definePlugin({
    name,
    level: 'request',
    options: { type: 'object', additionalProperties: false, properties: {} },
    pure: true,
    create({ host }) {
      seen.made += 1;
      seen.open += 1;
      host.onClose(() => void (seen.open -= 1));
      return middleware;
    },
  });
  return { seen, registry: new PluginRegistry(builtinPlugins).extend([plugin]).registry };
}

export interface AskParts extends Partial<Omit<ExplainQuestion, 'body'>> {
  readonly json?: object;
  readonly config?: string;
}

/** A chat request by default; `parts` overrides it. */
export function questionOf({ json = {}, config, headers = {}, ...rest }: AskParts = {}): ExplainQuestion {
  const body = { messages: [{ role: 'user', content: 'Hi' }], ...json };
  return {
    method: 'POST',
    path: '/v1/chat/completions',
    ...rest,
    headers: {
      'content-type': 'application/json',
      ...(config !== undefined && { 'x-gateway-config': config }),
      ...headers,
    },
    body: Buffer.from(JSON.stringify(body)),
  };
}

export const explain = (settings: SettingsText, parts: AskParts = {}): Promise<Explanation> =>
  createExplainer(settings).explain(questionOf(parts));

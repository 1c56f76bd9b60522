import {
  definePlugin,
  nearest,
  type Caller,
  type ConfigDirectory,
  type Exchange,
  type GatewayConfig,
  type GatewayContext,
  namesOf,
  type AliasDirectory,
  type UsedAlias,
  type FieldNames,
  type Operation,
} from '../../src/core/kernel/index.ts';
import { GatewayError } from '../../src/plugin/index.ts';
import { pathsOf } from './config-paths.ts';
import { withModelName } from './model-name.ts';

const CONFIG_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Finds the gateway config of a request and runs that config's own chain. */
export default definePlugin({
  name: 'config',
  level: 'entry',
  needs: ['aliases', 'configs', 'turns'],
  requires: ['caller', 'body'],
  provides: ['config'],
  explain({ exchange }) {
    const { alias, config, strict, strictParams, startedAt, deadline } = exchange;
    if (!config) return undefined;
    // Rounded: both times have fractions of milliseconds.
    const deadlineMs = Math.round(deadline - startedAt);
    const details = { config: config.id, hash: config.hash, strict, strictParams, deadlineMs };
    const does = describeSource(config, exchange);
    if (!alias) return { does, details };
    return { does: `${does}; ${describeAlias(alias)}`, details: { ...details, alias: alias.listed } };
  },
  create({ host }) {
    const { aliases, configs, turns } = host;
    const checkNames = createNameCheck();
    const checkInTurn = async (chosen: GatewayConfig, exchange: Exchange): Promise<void> =>
      await turns.run(exchange, () => checkNames(chosen, exchange));
    const run = (chosen: GatewayConfig, ctx: GatewayContext): Promise<void> => {
      const { exchange } = ctx;
      const done = configs.run(chosen, ctx);
      const { alias } = exchange;
      return alias ? done.then(() => nameModel(exchange, alias)) : done;
    };
    return {
      step(ctx) {
        const { exchange } = ctx;
        const { own } = exchange.request.head;
        exchange.strict = own ? readFlag(exchange, 'strict-open-ai-compliance') : undefined;
        exchange.strictParams = own ? (readFlag(exchange, 'strict-params') ?? false) : false;
        readModel(exchange, aliases);
        exchange.config = chooseConfig(exchange, configs);
        const { config: chosen } = exchange;
        if (own || chosen.deadlineMs !== undefined) exchange.deadline = deadlineOf(exchange, chosen);
        if (turns.isHeavy(exchange.request.bodyBytes))
          return checkInTurn(chosen, exchange).then(() => run(chosen, ctx));
        checkNames(chosen, exchange);
        return run(chosen, ctx);
      },
    };
  },
});

/** Claude Code writes it behind the name of a model whose longer context window the user has chosen. */
const LONG_CONTEXT = '[1m]';

function readModel(exchange: Exchange, aliases: AliasDirectory): void {
  const { request, operation } = exchange;
  const model = request.body?.string('model');
  exchange.askedModel = model;
  if (aliases.isEmpty && operation?.format.name !== 'anthropic-messages') return;
  if (request.body === undefined || model === undefined) return;
  const isLong = operation?.format.name === 'anthropic-messages' && model.endsWith(LONG_CONTEXT);
  const name = isLong ? model.slice(0, -LONG_CONTEXT.length) : model;
  if (isLong) {
    exchange.longContext = true;
    request.body = request.body.edit([{ path: ['model'], value: name, source: 'gateway' }]);
  }
  if (!aliases.isEmpty) resolveAlias(name, exchange, aliases);
}

/** Everything after this plugin sees the target as if the caller had written it. A config's alias stays in the body. */
function resolveAlias(model: string, exchange: Exchange, aliases: AliasDirectory): void {
  const { body } = exchange.request;
  const alias = findAlias(model, exchange, aliases);
  if (!body || !alias) return;
  exchange.alias = alias;
  const { listed, target } = alias;
  if (target !== undefined)
    exchange.request.body = body.edit([{ path: ['model'], value: target, source: `alias ${listed}` }]);
}

function findAlias(name: string, { caller, operation }: Exchange, aliases: AliasDirectory): UsedAlias | undefined {
  const { modelPrefix: prefix } = operation ?? {};
  const bare = prefix !== undefined && name.startsWith(prefix) ? name.slice(prefix.length) : undefined;
  const own = aliases.find(caller, name);
  // A wildcard may fit the prefix too; its names have none.
  return bare === undefined || own?.listed === name ? own : (aliases.find(caller, bare) ?? own);
}

/** The reply names the model as the request did. A header of the reply names the real one. */
function nameModel({ operation, reply }: Exchange, { name }: UsedAlias): void {
  if (!operation || !reply || reply.status >= 300) return;
  reply.body = withModelName(reply, { format: operation.format.name, name });
}

const describeAlias = ({ name, listed, target, config }: UsedAlias): string =>
  `the model ${name} is an alias of ${target ?? `the config ${config}`}${listed === name ? '' : `, by ${listed}`}`;

/** A stored config's deadline replaces the server's. The caller (by header or inline config) can only shorten it. */
function deadlineOf({ startedAt, deadline, request }: Exchange, { deadlineMs }: GatewayConfig): number {
  const own = deadlineMs === undefined ? deadline : startedAt + deadlineMs;
  const allowed = own > deadline && isInline(request.header('config')) ? deadline : own;
  const requested = request.header('request-timeout');
  if (requested === undefined) return allowed;
  if (!/^[1-9]\d{0,9}$/.test(requested))
    throw new GatewayError(
      'invalid_header',
      `${request.headerName('request-timeout')} must be a whole number of milliseconds, at least 1.`,
    );
  return Math.min(allowed, startedAt + Number(requested));
}

/** The request's, else the key's, else the server's. Without any, the request itself names its target. */
function chooseConfig(exchange: Exchange, configs: ConfigDirectory): GatewayConfig {
  const requested = exchange.request.header('config');
  const { alias } = exchange;
  if (alias?.config !== undefined) return ofAlias({ ...alias, config: alias.config }, exchange, configs);
  if (requested !== undefined) {
    exchange.namesConfig = isInline(requested) ? 'inline' : 'named';
    return exchange.namesConfig === 'inline'
      ? inline(requested, exchange, configs)
      : named(requested, exchange, configs);
  }
  const id = exchange.caller?.defaultConfig ?? configs.fallbackId;
  return (id !== undefined && configs.get(id)) || configs.direct;
}

/** The config that an alias stands for. The key needs it in its `configs`, or the alias in its `models`. */
function ofAlias(
  { name, config: id, granted }: UsedAlias & { readonly config: string },
  { caller, request }: Exchange,
  configs: ConfigDirectory,
): GatewayConfig {
  const requested = request.header('config');
  if (!granted && !allows(caller, id))
    throw new GatewayError('model_not_allowed', `This key may not use the model ${JSON.stringify(name)}.`, {
      param: 'model',
    });
  if (requested !== undefined && requested !== id)
    throw new GatewayError(
      'provider_conflict',
      `The model ${JSON.stringify(name)} stands for another gateway config than ${request.headerName('config')} names.`,
      { param: 'model' },
    );
  const config = configs.get(id);
  if (!config) throw new GatewayError('unknown_config', `There is no gateway config ${JSON.stringify(id)}.`);
  return config;
}

function describeSource({ id }: GatewayConfig, { alias, request, caller }: Exchange): string {
  if (alias?.config !== undefined) return `${id}, by the alias ${alias.name}`;
  if (id === '') return 'none: the request itself names its target';
  if (request.header('config') !== undefined) return `${id}, by ${request.headerName('config')}`;
  return id === caller?.defaultConfig ? `${id}, the default of key ${caller.keyId}` : `${id}, the server's default`;
}

/** No id begins with a brace. */
const isInline = (requested: string | undefined): boolean => requested?.trimStart().startsWith('{') ?? false;

function inline(json: string, { caller, request }: Exchange, configs: ConfigDirectory): GatewayConfig {
  const header = request.headerName('config');
  if (!caller?.inlineConfigs)
    throw new GatewayError(
      'config_not_allowed',
      `This key may not send its own gateway config in ${header}: \`inline_configs\` in keys.yaml allows it.`,
    );
  return configs.inline(json, header, { plugins: caller.inlinePlugins ?? false });
}

function named(id: string, { caller, request }: Exchange, configs: ConfigDirectory): GatewayConfig {
  if (!CONFIG_ID.test(id)) {
    throw new GatewayError(
      'invalid_header',
      `${request.headerName('config')} must be the id of a gateway config: a file name in configs/gateway/ without .yaml.`,
    );
  }
  const config = configs.get(id);
  const hint = (): string => {
    const meant = nearest(
      id,
      configs.ids.filter((other) => allows(caller, other)),
    );
    return meant === undefined ? '' : ` Did you mean ${JSON.stringify(meant)}?`;
  };
  // A key restricted to certain configs cannot find out whether others exist.
  if (!allows(caller, id))
    throw new GatewayError(
      'config_not_allowed',
      `This key may not use the gateway config ${JSON.stringify(id)}.${hint()}`,
    );
  if (!config) throw new GatewayError('unknown_config', `There is no gateway config ${JSON.stringify(id)}.${hint()}`);
  return config;
}

const allows = (caller: Caller | undefined, id: string): boolean => !caller?.configs || caller.configs.includes(id);

function readFlag({ request }: Exchange, name: string): boolean | undefined {
  const value = request.header(name)?.toLowerCase();
  if (value === undefined) return undefined;
  if (value === 'true' || value === 'false') return value === 'true';
  throw new GatewayError('invalid_header', `${request.headerName(name)} must be true or false.`);
}

/** Checks the fields that configs set, delete or read, before any target: the result does not depend on it. */
function createNameCheck(): (config: GatewayConfig, exchange: Exchange) => void {
  const known = new WeakMap<GatewayConfig, Map<Operation['fields'], FieldNames>>();
  /** Throws GatewayError `ambiguous_parameter`. */
  return (config, { operation, request: { body } }) => {
    if (!operation || !body) return;
    let ofConfig = known.get(config);
    if (!ofConfig) known.set(config, (ofConfig = new Map<Operation['fields'], FieldNames>()));
    let names = ofConfig.get(operation.fields);
    if (!names) ofConfig.set(operation.fields, (names = namesOf(pathsOf(config), operation.fields)));
    if (!names.empty) names.check(body);
  };
}

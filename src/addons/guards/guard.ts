import type { Guard as GuardFile } from '../../../schemas/types.generated.ts';
import { furtherModelsIn, furtherModelsOfParams } from '../../core/catalog/check-models.ts';
import { Globs } from '../../core/catalog/globs.ts';
import { parseDuration } from '../../core/kernel/units.ts';
import type { GatewayConfig, GatewayContext, GuardAction, Route, Target } from '../../core/kernel/index.ts';
import type { TextKind } from '../../formats/texts/channels.ts';
import { formats } from '../../formats/index.ts';
import type { RequestTextKind, RequestTexts, TextRole } from '../../formats/texts/request-texts.ts';
import type { TextHold } from '../../plugin/hooks.ts';
import { actionOf, type CheckName } from './settings/check-options.ts';
import { readGuardOptions } from './settings/guard-options.ts';

export interface CompiledGuard {
  readonly name: string;
  readonly check: CheckName;
  readonly action: GuardAction;
  readonly input: boolean;
  readonly output: boolean;
  readonly onError: 'deny' | 'allow';
  readonly onUnseen: 'deny' | 'allow';
  readonly message: string | undefined;
  readonly roles: ReadonlySet<TextRole> | undefined;
  /** Of a request, the last text alone. */
  readonly last: boolean;
  readonly requestKinds: readonly RequestTextKind[];
  readonly replyKinds: readonly TextKind[];
  readonly includes: (ctx: GatewayContext) => boolean;
  readonly hold: TextHold;
  readonly options: Readonly<Record<string, unknown>>;
}

const KINDS = ['text', 'thinking', 'refusal', 'tool_arguments', 'tool_result'] as const;
const REQUEST_KINDS: readonly RequestTextKind[] = [...KINDS, 'file_name', 'definition'];
const REPLY_KINDS: readonly TextKind[] = [...KINDS, 'error'];

const HOLD_BYTES = 65_536;

/** @param file a guard in which the checks of the settings found no mistake */
export function compileGuard(file: GuardFile): CompiledGuard {
  const { name, check, on = ['input'], only = {}, message } = file;
  const action = actionOf(file);
  const observes = action === 'observe';
  const kinds = only.kinds && new Set<string>(only.kinds);
  // A schema, or a rule for whole texts, is for the answer and its question: not for thinking, nor for definitions of tools.
  const ofWhole = (check === 'json_schema' || check === 'text') && !kinds;
  const replyKinds: readonly TextKind[] = ofWhole ? ['text'] : REPLY_KINDS;
  return {
    name,
    check,
    action,
    input: on.includes('input'),
    output: on.includes('output'),
    onError: observes ? 'allow' : (file.on_error ?? 'deny'),
    onUnseen: observes ? 'allow' : (file.on_unseen ?? 'deny'),
    message,
    last: only.last ?? false,
    roles: only.roles && new Set(only.roles),
    requestKinds: REQUEST_KINDS.filter((kind) => (kinds ? kinds.has(kind) : !ofWhole || kind !== 'definition')),
    replyKinds: replyKinds.filter((kind) => !kinds || kinds.has(kind)),
    includes: compileOnly(only),
    hold: holdOf(file.hold),
    options: readGuardOptions(file, () => {}) ?? {},
  };
}

const holdOf = ({ mode = 'window', bytes, time }: NonNullable<GuardFile['hold']> = {}): TextHold => ({
  mode,
  // A slow model is no reason to end its reply: `timeouts.idle` bounds the wait.
  time: time === undefined ? Infinity : parseDuration(time),
  ...(bytes !== undefined ? { bytes } : mode === 'all' ? {} : { bytes: HOLD_BYTES }),
});

/**
 * The models that a request asks for, each by all its names: as the body has it, with the provider that stands beside it, and
 * as an alias; and those that some upstreams call in its place, or as tools. A config that came with the request is its caller's
 * word, too: it has one for each target.
 */
export function modelsOf({ exchange, attempt }: GatewayContext): readonly (readonly string[])[] {
  const { request, config, alias, operation } = exchange;
  const body = attempt?.body ?? request.body;
  const model = body?.string('model') ?? request.params['model'];
  const header = request.header('provider');
  const called = (name: unknown, provider: string | undefined): readonly string[] =>
    alias ? [...namesOf(name, provider), alias.name] : namesOf(name, provider);
  const furtherOf = (provider: string | undefined, params: readonly (Params | undefined)[] = []) =>
    [
      ...(body ? furtherModelsIn(body, operation?.fields) : []),
      ...params.flatMap((one) => (one ? furtherModelsOfParams(one, operation?.fields) : [])),
    ].map(({ name }) => namesOf(name, provider ?? providerIn(model)));
  const isOwn = isOfCaller(config);
  // An operator's target that replaces the model does not call the one that the request names.
  const targets =
    attempt || !config ? [] : leavesOf(config.route).filter((one) => isOwn || !one.overrideParams?.['model']);
  if (targets.length === 0) {
    const provider = attempt?.target.provider ?? header;
    return [called(model, provider), ...furtherOf(provider)];
  }
  return targets.flatMap(({ overrideParams, overrideLevels, defaultParams, provider = header }) => [
    called(overrideParams?.['model'] ?? model ?? defaultParams?.['model'], provider),
    ...furtherOf(provider, isOwn ? [defaultParams, ...overrideLevels] : []),
  ]);
}

type Params = Readonly<Record<string, unknown>>;

const namesOf = (name: unknown, provider: string | undefined): readonly string[] => {
  if (typeof name !== 'string') return [];
  return provider && !name.startsWith('@') ? [name, `@${provider.replace(/^@/, '')}/${name}`] : [name];
};

/** `@openai` of `@openai/gpt-5`. */
const providerIn = (model: string | undefined): string | undefined => /^@[^/]+(?=\/)/.exec(model ?? '')?.[0];

const isOfCaller = (config: GatewayConfig | undefined): config is GatewayConfig => config?.id === 'inline';

const withTexts = new WeakMap<GatewayConfig, boolean>();

/** Whether a config of the caller's own puts texts, in the words of any API, into requests behind the guards. */
export function hasOwnTexts(config: GatewayConfig | undefined): boolean {
  if (!isOfCaller(config)) return false;
  let has = withTexts.get(config);
  if (has === undefined) {
    const params = leavesOf(config.route).flatMap(({ defaultParams, overrideLevels }) => [
      defaultParams,
      ...overrideLevels,
    ]);
    has = params.some((one) => one && Object.values(formats).some(({ texts }) => texts && isAny(texts.request(one))));
    withTexts.set(config, has);
  }
  return has;
}

const isAny = ({ texts, media }: RequestTexts): boolean => texts.length + media.length > 0;

const leavesOf = (route: Route): readonly Target[] =>
  route.kind === 'target' ? [route] : route.members.flatMap(leavesOf);

function compileOnly({ operations, models, metadata }: NonNullable<GuardFile['only']>): CompiledGuard['includes'] {
  const ofOperations = operations && new Globs(operations);
  const ofModels = models && new Globs(models);
  const values = Object.entries(metadata ?? {}).map(([key, list]) => [key, new Set(list)] as const);
  return (ctx) =>
    (ofOperations?.matches(ctx.exchange.operation?.id ?? '') ?? true) &&
    (!ofModels ||
      modelsOf(ctx)
        .flat()
        .some((name) => matchesAnywhere(ofModels, name))) &&
    values.every(([key, allowed]) => allowed.has(metadataOf(ctx, key) ?? ''));
}

/** A pattern without a provider is about the model at any: `gpt-5*` is `@openai/gpt-5` too. */
export const matchesAnywhere = (globs: Globs, name: string): boolean =>
  globs.matches(name) || globs.matches(name.replace(/^@[^/]+\//, ''));

/** The key's own value stands, also where a list of plugins leaves out the one that reads metadata. */
export const metadataOf = ({ exchange: { caller, metadata } }: GatewayContext, key: string): string | undefined =>
  caller?.metadata?.[key] ?? (Object.hasOwn(metadata, key) ? metadata[key] : undefined);

import {
  definePlugin,
  jsonReply,
  type Exchange,
  type ListedPrompt,
  type Operation,
  type PromptDirectory,
  type RequestBody,
  type RequestLimits,
  type UsedPrompt,
} from '../../../../core/kernel/index.ts';
import { GatewayError } from '../../../../plugin/index.ts';
import { mergePrompt } from './merge.ts';

/** Characters beyond those of the request: a template must not make a large request of a small one. */
const TEMPLATE_CHARACTERS = 1024 * 1024;

/** Writes the prompt that a request names into its body, and answers the other operations on prompts. */
export default definePlugin({
  name: 'prompts',
  level: 'request',
  needs: ['prompts', 'limits', 'turns'],
  requires: ['body'],
  provides: ['prompt'],
  explain({ exchange: { operation, prompt, request, reply, error } }) {
    if (operation?.id === 'prompts.list')
      return reply && !error ? { does: 'lists the prompts that the key may use; nothing is sent upstream' } : undefined;
    if (!prompt) return undefined;
    const { id, version } = prompt;
    const source = sourceOf(prompt);
    // The values of the request may not fit the version.
    if (!request.body?.edits.some((edit) => edit.source === source)) return undefined;
    return { does: `writes ${id}@${version} into the request`, details: { prompt: id, version } };
  },
  create({ host }) {
    const { prompts: directory, limits, turns } = host;
    const answer = async (exchange: Exchange, operation: Operation, next: () => Promise<void>): Promise<void> => {
      const { request } = exchange;
      if (operation.id === 'prompts.list') {
        exchange.reply = jsonReply(toList(directory.list(exchange)), operation?.format);
        return;
      }
      const write = (): void => writePrompt(exchange, directory, limits);
      await (turns.isHeavy(request.bodyBytes) ? turns.run(exchange, write) : write());
      if (operation.task !== undefined) return next();
      exchange.reply = jsonReply({ success: true, data: request.body?.json() ?? {} }, operation?.format);
    };
    return function prompts({ exchange }, next) {
      const { operation } = exchange;
      return operation?.plugin === 'prompts' ? answer(exchange, operation, next) : next();
    };
  },
});

/** Replaces the body of the request by one with the prompt in it, validated as if the client had sent it. */
function writePrompt(exchange: Exchange, directory: PromptDirectory, limits: RequestLimits): void {
  const { operation, request } = exchange;
  const { body } = request;
  if (!operation || !body) throw new GatewayError('internal_error', 'The prompts plugin ran before the body was read.');
  const found = directory.find(exchange, request.params['prompt'] ?? '');
  const { id, version } = found;
  // Set before the texts are made: a failure counts for this version.
  exchange.prompt = { id, version, media: [] };
  const { fields, media } = found.render(variablesOf(body), TEMPLATE_CHARACTERS + request.bodyBytes);
  const refusal = limits.reserve(exchange, Buffer.byteLength(JSON.stringify(fields)));
  if (refusal) throw refusal;
  const merged = mergePrompt(body, fields, { source: sourceOf(found), operation });
  const fault = operation.validate(merged.json());
  if (fault) {
    const code = fault.missing ? 'missing_required_parameter' : 'invalid_request';
    throw new GatewayError(code, `With the prompt ${id}@${version}: ${fault.message}`, {
      param: fault.param,
    });
  }
  merged.checked = true;
  request.body = merged;
  exchange.prompt = { id, version, media };
}

const sourceOf = ({ id, version }: Pick<UsedPrompt, 'id' | 'version'>): string => `prompts/${id}.yaml ${version}`;

/** `validateReceived` has checked the type. */
const variablesOf = (body: RequestBody): Readonly<Record<string, unknown>> => Object(body.value('variables') ?? {});

/** The body of `GET /v1/prompts`, in the form of OpenAI's lists. */
const toList = (prompts: readonly ListedPrompt[]): object => ({
  object: 'list',
  total: prompts.length,
  data: prompts.map(({ id, description, labels, versions }) => ({
    object: 'prompt',
    id,
    slug: id,
    name: id,
    ...(description !== undefined && { description }),
    latest: versions.at(-1)?.version,
    labels,
    versions: versions.map(({ version, released, note, model, variables }) => ({
      version,
      released,
      ...(note !== undefined && { note }),
      ...(model !== undefined && { model }),
      variables,
    })),
  })),
});

import { definePlugin } from '../../../../core/kernel/index.ts';
import { injectedPrompt } from './injected-prompt.ts';

/** Puts a text before or after the system prompt, once. */
export default definePlugin({
  name: 'inject-prompt',
  level: 'request',
  options: {
    type: 'object',
    additionalProperties: false,
    properties: {
      text: { type: 'string', default: '', description: 'The text. None: the plugin does nothing.' },
      place: {
        type: 'string',
        enum: ['before', 'after'],
        default: 'before',
        description: 'Before or after the system prompt of the request.',
      },
    },
  },
  requires: ['body'],
  pure: true,
  explain: (_, { text, place }) =>
    text === '' ? undefined : { does: `puts a text of ${text.length} characters ${place} the system prompt` },
  create({ options }) {
    const { text, place } = options;
    return {
      step({ exchange: { operation, request } }) {
        const { body } = request;
        if (text === '' || !body || !operation || !WITH_PROMPT.has(operation.task ?? '')) return undefined;
        const edit = injectedPrompt(body.json(), { format: operation.format.name, text, place });
        if (edit) request.body = body.edit([{ ...edit, source: 'plugin inject-prompt' }]);
        return undefined;
      },
    };
  },
});

const WITH_PROMPT: ReadonlySet<string> = new Set(['generate', 'count_tokens']);

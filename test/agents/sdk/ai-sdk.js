import { isStepCount, jsonSchema, streamText, tool } from 'ai';
import { image, MAX_STEPS, prompt, thinks, TOOLS } from './common.js';

const content = [
  { type: 'text', text: prompt },
  ...(image ? [{ type: 'file', mediaType: 'image/png', data: image }] : []),
];

/** A turn of the AI SDK with tools, streamed. */
export async function turn(model, { providerOptions = {}, thinking }) {
  const result = streamText({
    model,
    messages: [{ role: 'user', content }],
    tools: Object.fromEntries(
      TOOLS.map(({ name, description, schema, run }) => [
        name,
        tool({ description, inputSchema: jsonSchema(schema), execute: async (input) => run(input) }),
      ]),
    ),
    stopWhen: isStepCount(MAX_STEPS),
    providerOptions: thinks ? thinking : providerOptions,
    onError: () => {},
  });
  for await (const part of result.fullStream) if (part.type === 'error') throw part.error;
  return result.text;
}

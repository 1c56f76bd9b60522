import { isStepCount, jsonSchema, streamText, tool } from 'ai';
import { MAX_STEPS, prompt, thinks, TOOLS } from './common.js';

/** A turn of the AI SDK with tools, streamed. */
export async function turn(model, { providerOptions = {}, thinking }) {
  const result = streamText({
    model,
    prompt,
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

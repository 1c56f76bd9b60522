import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { image, MAX_STEPS, prompt, TOOLS, use } from './common.js';

const content = [
  { type: 'text', text: prompt },
  ...(image ? [{ type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } }] : []),
];

/** The tool loop of LangChain's documents, streamed. */
export async function loop(model) {
  const bound = model.bindTools(
    TOOLS.map(({ name, description, schema }) => ({
      type: 'function',
      function: { name, description, parameters: schema },
    })),
  );
  const messages = [new HumanMessage({ content })];
  for (let step = 0; step < MAX_STEPS; step += 1) {
    let message;
    for await (const chunk of await bound.stream(messages)) message = message?.concat(chunk) ?? chunk;
    if (!message) throw new Error('The stream ended without a message.');
    messages.push(message);
    if (!message.tool_calls?.length) return message.text;
    for (const { id, name, args } of message.tool_calls) {
      const { output, error } = use(name, args);
      const status = error === undefined ? 'success' : 'error';
      messages.push(new ToolMessage({ tool_call_id: id, name, content: output ?? error, status }));
    }
  }
  throw new Error('too many steps');
}

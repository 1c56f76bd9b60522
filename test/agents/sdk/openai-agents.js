import { Agent, setTracingDisabled } from '@openai/agents';
import { run, tool } from '@openai/agents'; // Not on the page.
import { image, main, MAX_STEPS, prompt, thinks, TOOLS } from './common.js';

const tools = TOOLS.map(({ name, description, schema, run: execute }) =>
  tool({
    name,
    description,
    parameters: schema,
    strict: true,
    execute: async (input) => execute(input),
    // By default the model gets a fixed sentence, without the cause.
    errorFunction: (_, error) => error.message,
  }),
);
const modelSettings = thinks ? { reasoning: { effort: 'high', summary: 'auto' } } : {};

const content = [
  { type: 'input_text', text: prompt },
  ...(image ? [{ type: 'input_image', image: `data:image/png;base64,${image}` }] : []),
];

// <docs>
setTracingDisabled(true);
const agent = new Agent({
  name: 'helper',
  instructions: 'You answer in one sentence.',
  model: process.env.MODEL,
  tools, // Not on the page.
  modelSettings, // Not on the page.
});
// </docs>

await main(async () => {
  const result = await run(agent, [{ role: 'user', content }], { stream: true, maxTurns: MAX_STEPS });
  await result.completed;
  return result.finalOutput;
});

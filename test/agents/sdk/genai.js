import { GoogleGenAI } from '@google/genai';
import { main, MAX_STEPS, prompt, thinks, TOOLS } from './common.js';

// <docs>
const ai = new GoogleGenAI({
  apiKey: process.env.GATEHOUSE_API_KEY,
  httpOptions: { baseUrl: process.env.GATEHOUSE_URL },
});
// </docs>

const config = {
  tools: [
    {
      functionDeclarations: TOOLS.map(({ name, description, schema }) => ({
        name,
        description,
        parametersJsonSchema: schema,
      })),
    },
  ],
  ...(thinks && { thinkingConfig: { includeThoughts: true } }),
};

await main(async () => {
  const contents = [{ role: 'user', parts: [{ text: prompt }] }];
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const parts = [];
    let finish;
    for await (const chunk of await ai.models.generateContentStream({ model: process.env.MODEL, contents, config })) {
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
      finish = chunk.candidates?.[0]?.finishReason ?? finish;
    }
    if (finish === undefined) throw new Error('The stream ended before the answer did.');
    contents.push({ role: 'model', parts });
    const calls = parts.filter((part) => part.functionCall);
    if (calls.length === 0) return parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('');
    contents.push({
      role: 'user',
      parts: calls.map(({ functionCall: { id, name, args } }) => {
        const { run } = TOOLS.find((tool) => tool.name === name);
        return { functionResponse: { ...(id && { id }), name, response: { output: run(args) } } };
      }),
    });
  }
  throw new Error('too many steps');
});

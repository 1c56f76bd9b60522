import { GoogleGenAI } from '@google/genai';
import { image, main, MAX_STEPS, prompt, thinks, TOOLS, use } from './common.js';

// <docs>
const ai = new GoogleGenAI({
  apiKey: process.env.GATEHOUSE_API_KEY,
  httpOptions: { baseUrl: process.env.GATEHOUSE_URL },
});
const model = process.env.MODEL;
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
  const picture = image ? [{ inlineData: { mimeType: 'image/png', data: image } }] : [];
  const contents = [{ role: 'user', parts: [{ text: prompt }, ...picture] }];
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const parts = [];
    let finish;
    for await (const chunk of await ai.models.generateContentStream({ model, contents, config })) {
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
      finish = chunk.candidates?.[0]?.finishReason ?? finish;
    }
    if (finish === undefined) throw new Error('The stream ended before the answer did.');
    contents.push({ role: 'model', parts });
    const calls = parts.filter((part) => part.functionCall);
    if (calls.length === 0) return parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('');
    contents.push({
      role: 'user',
      parts: calls.map(({ functionCall: { id, name, args } }) => ({
        functionResponse: { ...(id && { id }), name, response: use(name, args) },
      })),
    });
  }
  throw new Error('too many steps');
});

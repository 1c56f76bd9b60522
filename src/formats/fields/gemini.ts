import type { FieldTable } from './field-table.ts';

/** generateContent and countTokens (docs/protocols/gemini.md#request-body). `model` and `stream` come from the path. */
export const geminiFields: FieldTable = {
  read: [
    'model',
    'stream',
    'contents',
    'systemInstruction',
    'tools',
    'toolConfig',
    'safetySettings',
    'generationConfig',
    'labels',
    'serviceTier',
    'cachedContent',
  ],
  synonyms: [['generationConfig.responseSchema', 'generationConfig.responseJsonSchema']],
  bothCases: true,
  lifted: [],
  models: [],
  freeMaps: [
    'labels',
    'generationConfig.responseSchema',
    'generationConfig.responseJsonSchema',
    'contents[].parts[].functionCall.args',
    'contents[].parts[].functionResponse.response',
    'tools[].functionDeclarations[].parameters',
    'tools[].functionDeclarations[].parametersJsonSchema',
    'tools[].functionDeclarations[].response',
    'tools[].functionDeclarations[].responseJsonSchema',
  ],
};

/** Known fields inside of a body's own, by the object that has them: a JSON reader that ignores case takes others for these. */
const inside = (objects: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(objects).flatMap(([place, names]) => names.split(' ').map((name) => `${place}.${name}`));

/** docs/protocols/openai-chat.md#request-fields */
export const CHAT_INNER = inside({
  stream_options: 'include_usage include_obfuscation',
  thinking: 'type budget_tokens display',
  reasoning: 'effort max_tokens enabled exclude',
  response_format: 'type json_schema',
  'response_format.json_schema': 'name schema strict',
  tool_choice: 'type function custom allowed_tools',
  'tool_choice.function': 'name',
  function_call: 'name',
  audio: 'voice format',
  web_search_options: 'search_context_size user_location',
  prediction: 'type content',
  'messages.[]': 'role content name tool_calls tool_call_id function_call refusal reasoning_content content_blocks',
  'messages.[].content.[]': 'type text image_url input_audio file refusal cache_control',
  'messages.[].content.[].image_url': 'url detail',
  'messages.[].content.[].file': 'file_id file_data filename',
  'messages.[].content.[].input_audio': 'data format',
  'messages.[].tool_calls.[]': 'id type function custom',
  'messages.[].tool_calls.[].function': 'name arguments',
  'tools.[]': 'type function custom cache_control',
  'tools.[].function': 'name description parameters strict',
  'functions.[]': 'name description parameters',
});

/** docs/protocols/anthropic-messages.md#request-fields */
export const MESSAGES_INNER = inside({
  thinking: 'type budget_tokens display',
  output_config: 'effort format',
  tool_choice: 'type name disable_parallel_tool_use',
  cache_control: 'type ttl',
  'system.[]': 'type text cache_control',
  'messages.[]': 'role content',
  'messages.[].content.[]':
    'type text source title id name input tool_use_id content is_error thinking signature data cache_control',
  'messages.[].content.[].source': 'type media_type data url file_id',
  'messages.[].content.[].content.[]': 'type text source',
  'tools.[]': 'type name description input_schema cache_control max_uses allowed_domains blocked_domains',
});

/** docs/protocols/openai-responses.md#request */
export const RESPONSES_INNER = inside({
  stream_options: 'include_obfuscation',
  reasoning: 'effort summary generate_summary',
  text: 'format verbosity',
  'text.format': 'type name schema strict',
  tool_choice: 'type name tools mode server_label',
  prompt: 'id version variables',
  conversation: 'id',
  'input.[]':
    'type role content id name call_id arguments input output summary encrypted_content status namespace action result',
  'input.[].content.[]': 'type text refusal image_url file_id file_data file_url filename detail',
  'input.[].output.[]': 'type text image_url file_id file_data file_url',
  'tools.[]':
    'type name description parameters strict server_label server_url connector_id authorization headers container',
});

/** docs/protocols/gemini.md#request-body */
export const GEMINI_INNER = inside({
  generationConfig: [
    'maxOutputTokens temperature topP topK candidateCount seed stopSequences presencePenalty frequencyPenalty',
    'responseLogprobs logprobs thinkingConfig responseModalities imageConfig speechConfig mediaResolution',
    'responseMimeType responseSchema responseJsonSchema',
  ].join(' '),
  'generationConfig.thinkingConfig': 'thinkingLevel thinkingBudget includeThoughts',
  toolConfig: 'functionCallingConfig retrievalConfig',
  'toolConfig.functionCallingConfig': 'mode allowedFunctionNames',
  'safetySettings.[]': 'category threshold method',
  systemInstruction: 'role parts',
  'systemInstruction.parts.[]': 'text',
  'contents.[]': 'role parts',
  'contents.[].parts.[]': 'text thought thoughtSignature inlineData fileData functionCall functionResponse',
  'contents.[].parts.[].inlineData': 'mimeType data',
  'contents.[].parts.[].fileData': 'mimeType fileUri',
  'contents.[].parts.[].functionCall': 'id name args',
  'contents.[].parts.[].functionResponse': 'id name response',
  'tools.[]': 'functionDeclarations googleSearch codeExecution urlContext',
  'tools.[].functionDeclarations.[]': 'name description parameters parametersJsonSchema response responseJsonSchema',
});

import type { ChatRequest, SimulatedTool } from './chat-request.ts';
import { sampleFor } from './sample.ts';

export interface SimulatedCall {
  readonly tool: SimulatedTool;
  /** JSON text for a function, free text for a custom tool. */
  readonly input: string;
}

export interface SimulatedChoice {
  readonly pieces: readonly string[];
  readonly calls: readonly SimulatedCall[];
  readonly finish: 'stop' | 'length' | 'tool_calls';
}

export interface Completion {
  readonly choices: readonly SimulatedChoice[];
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** The approximate number of tokens that models count for the frame of a message. */
const TOKENS_PER_MESSAGE = 4;

/** Deterministic: equal requests get equal answers. */
export function answer(request: ChatRequest): Completion {
  const calls = callsFor(request);
  const choices = Array.from({ length: request.n }, (_, index) => choiceFor(request, calls, index));
  return {
    choices,
    promptTokens: request.texts.reduce((sum, text) => sum + cut(text).length + TOKENS_PER_MESSAGE, 0),
    completionTokens: choices.reduce((sum, { pieces, calls }) => sum + pieces.length + tokensOf(calls), 0),
  };
}

function choiceFor(request: ChatRequest, calls: readonly SimulatedCall[], index: number): SimulatedChoice {
  if (calls.length > 0) return { pieces: [], calls, finish: 'tool_calls' };
  const pieces = cut(stopAt(textFor(request, index), request.stops));
  if (pieces.length <= request.maxTokens) return { pieces, calls, finish: 'stop' };
  return { pieces: pieces.slice(0, request.maxTokens), calls, finish: 'length' };
}

function textFor(request: ChatRequest, index: number): string {
  const { toolResults, jsonSchema, lastUserText } = request;
  if (jsonSchema !== undefined) return JSON.stringify(sampleFor(jsonSchema));
  const label = index === 0 ? 'Simulated reply' : `Simulated reply ${index + 1}`;
  if (toolResults.length > 0) return `${label} after tool results: ${toolResults.join('; ')}`;
  return `${label} to: ${lastUserText}`;
}

/** Cuts the text before the first stop sequence, as OpenAI does. */
function stopAt(text: string, stops: readonly string[]): string {
  const ends = stops.filter((stop) => stop !== '' && text.includes(stop)).map((stop) => text.indexOf(stop));
  return text.slice(0, Math.min(...ends, text.length));
}

/** Splits text into tokens: each word with the space before it. */
const cut = (text: string): readonly string[] => text.match(/\s*\S+|\s+/g) ?? [];

const tokensOf = (calls: readonly SimulatedCall[]): number =>
  calls.reduce((sum, { tool, input }) => sum + cut(tool.name).length + cut(input).length, 0);

function callsFor(request: ChatRequest): readonly SimulatedCall[] {
  const calls = wantedTools(request).map((tool) => ({ tool, input: inputFor(tool) }));
  return request.parallel ? calls : calls.slice(0, 1);
}

const inputFor = (tool: SimulatedTool): string =>
  tool.kind === 'custom' ? 'sample input' : JSON.stringify(sampleFor(tool.schema ?? { type: 'object' }));

/** The tools that the last user message names; else the first, if it mentions tools or a call is forced. */
function wantedTools(request: ChatRequest): readonly SimulatedTool[] {
  const { tools, forced, lastRole, lastUserText } = request;
  const first = tools[0];
  if (!first) return [];
  const prompt = lastRole === 'user' ? lastUserText.toLowerCase() : '';
  const named = tools.filter(({ name }) => mentions(prompt, name.toLowerCase()));
  if (named.length === 0 && !forced && !/\b(?:tools?|functions?)\b/.test(prompt)) return [];
  if (!/\bparallel\b/.test(prompt)) return named.length > 0 ? named : [first];
  const all = named.length > 0 ? named : tools;
  return all.length > 1 ? all : [...all, ...all];
}

const mentions = (text: string, name: string): boolean =>
  text.includes(name) || (name.includes('_') && text.includes(name.replaceAll('_', ' ')));

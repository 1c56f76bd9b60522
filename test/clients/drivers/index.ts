import { aiAnthropic, aiCompatible, aiOpenai } from './ai-sdk.ts';
import { anthropic } from './anthropic.ts';
import { langchainAnthropic, langchainOpenai } from './langchain.ts';
import { openai } from './openai.ts';
import { portkey } from './portkey.ts';
import type { Driver } from './driver.ts';

export const DRIVERS: readonly Driver[] = [
  openai,
  anthropic,
  aiOpenai,
  aiCompatible,
  aiAnthropic,
  langchainOpenai,
  langchainAnthropic,
  portkey,
];

import { metric } from '../../core/record/metrics/metric-spec.ts';

export const TEXT_METRICS = {
  cacheTexts: metric({
    name: 'gatehouse_cache_texts',
    help: 'Texts that semantic caches compare, including those whose replies are gone and that were not looked up since.',
    zero: [{}],
  }),
  cacheTextsSize: metric({
    name: 'gatehouse_cache_texts_size_bytes',
    help: 'Memory that semantic caches count for texts and vectors; cache.semantic.max_bytes bounds it.',
    zero: [{}],
  }),
};

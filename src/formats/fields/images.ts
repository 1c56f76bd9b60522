import { MODEL_LISTS, type FieldTable } from './field-table.ts';

/** POST /v1/images/generations, with what Imagen and Gemini add. */
export const imagesFields: FieldTable = {
  read: [
    ...['model', 'prompt', 'n', 'size', 'quality', 'style', 'response_format', 'output_format', 'output_compression'],
    ...['background', 'moderation', 'stream', 'partial_images', 'user', 'labels', 'seed', 'language', ...MODEL_LISTS],
    ...['aspect_ratio', 'image_size', 'sample_image_size', 'person_generation', 'negative_prompt', 'safety_setting'],
    ...['add_watermark', 'enhance_prompt', 'guidance_scale', 'include_safety_attributes', 'image_config'],
    ...['safety_settings'],
  ],
  synonyms: [['image_size', 'sample_image_size']],
  bothCases: true,
  models: MODEL_LISTS,
  freeMaps: ['metadata', 'labels'],
};

import { onBeforeUnmount, ref } from 'vue';

/** The moment that is shown, ms from the start of a run, and what moves it. */
export function usePlayer(length: () => number) {
  const at = ref(length());
  const playing = ref(false);
  let frame = 0;

  function pause(): void {
    playing.value = false;
    cancelAnimationFrame(frame);
  }

  function play(): void {
    if (at.value >= length()) at.value = 0;
    playing.value = true;
    let before = globalThis.performance.now();
    const step = (now: number) => {
      at.value = Math.min(length(), at.value + Math.max(0, now - before));
      before = now;
      if (at.value >= length()) pause();
      else frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
  }

  onBeforeUnmount(pause);
  return { at, playing, pause, toggle: () => (playing.value ? pause() : play()) };
}

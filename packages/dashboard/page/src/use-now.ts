import { useEffect, useState } from 'preact/hooks';

const calm = matchMedia('(prefers-reduced-motion: reduce)');

/** The time, µs since 1970: with each frame, or once a second if the user wants little motion. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now() * 1000);
  useEffect(() => {
    if (calm.matches) {
      const timer = setInterval(() => setNow(Date.now() * 1000), 1000);
      return () => clearInterval(timer);
    }
    let frame = requestAnimationFrame(function draw() {
      setNow(Date.now() * 1000);
      frame = requestAnimationFrame(draw);
    });
    return () => cancelAnimationFrame(frame);
  }, []);
  return now;
}

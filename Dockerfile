# The live service. Build: docker build -t patientbandits .
# Run:   docker run -v shop:/data -p 127.0.0.1:8080:8080 patientbandits
FROM python:3.12-slim AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m venv /app && /app/bin/pip install --no-cache-dir '.[live,postgres,parquet,traces]'

FROM python:3.12-slim
RUN useradd --system --uid 10001 --create-home app && install -d -o app -g app /data /cache
COPY --from=build /app /app
ENV PATH=/app/bin:$PATH NUMBA_CACHE_DIR=/cache NUMBA_CPU_NAME=generic PYTHONUNBUFFERED=1
USER app
# Compile the policies now: a new container decides at once.
RUN python -m patientbandits.live.warm
WORKDIR /data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/readyz', timeout=2)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["patientbandits"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8080", "--db", "/data/shop.db"]

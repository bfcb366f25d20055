{{- define "bandits.labels" -}}
app.kubernetes.io/name: patientbandits
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Values.image.tag | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "bandits.selector" -}}
app.kubernetes.io/name: patientbandits
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "bandits.pod" -}}
metadata:
  labels:
    {{- include "bandits.labels" . | nindent 4 }}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 60
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    seccompProfile:
      type: RuntimeDefault
  containers:
    - name: bandits
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args:
        - serve
        - --host
        - 0.0.0.0
        - --port
        - "8080"
        - --first-key
        - /run/secrets/patientbandits/key
        {{- if not .Values.postgres.secret }}
        - --db
        - /data/shop.db
        {{- end }}
        {{- range .Values.allowOrigins }}
        - --allow-origin
        - {{ . | quote }}
        {{- end }}
        {{- if .Values.rate }}
        - --rate
        - {{ .Values.rate | quote }}
        {{- end }}
        {{- if .Values.traces.enabled }}
        - --traces
        {{- end }}
      env:
        - name: NUMBA_CACHE_DIR
          value: /cache
        {{- if .Values.postgres.secret }}
        - name: PATIENTBANDITS_DB
          valueFrom:
            secretKeyRef:
              name: {{ .Values.postgres.secret }}
              key: url
        {{- end }}
        {{- if .Values.traces.enabled }}
        - name: OTEL_EXPORTER_OTLP_ENDPOINT
          value: {{ .Values.traces.endpoint | quote }}
        {{- end }}
      ports:
        - name: http
          containerPort: 8080
      startupProbe:
        httpGet:
          path: /readyz
          port: http
        periodSeconds: 2
        failureThreshold: 150
      readinessProbe:
        httpGet:
          path: /readyz
          port: http
        periodSeconds: 5
      livenessProbe:
        httpGet:
          path: /healthz
          port: http
        periodSeconds: 10
        failureThreshold: 6
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - name: cache
          mountPath: /cache
        - name: temporary
          mountPath: /tmp
        - name: admin-key
          mountPath: /run/secrets/patientbandits
          readOnly: true
        {{- if not .Values.postgres.secret }}
        - name: data
          mountPath: /data
        {{- end }}
  volumes:
    - name: cache
      emptyDir: {}
    - name: temporary
      emptyDir: {}
    - name: admin-key
      secret:
        secretName: {{ .Values.adminKeySecret | default (printf "%s-admin-key" .Release.Name) }}
        defaultMode: 0440
{{- end }}

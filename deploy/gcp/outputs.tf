output "zones" {
  description = "The zones of walbridge.yaml; add a prefix for each Kafka cluster that shares the buckets."
  value = yamlencode({
    zones = [for zone in var.zones : { name = zone, url = "gs://${google_storage_bucket.wal[zone].name}?mode=zonal" }]
  })
}

output "service_account" {
  description = "Attach it to the brokers' instances; the daemon finds it as its application default credentials."
  value       = google_service_account.daemon.email
}
